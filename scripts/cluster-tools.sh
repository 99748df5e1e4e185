#!/usr/bin/env bash
# Installs what `npm run test:cluster` needs: podman and buildah with their network, the builder of a small Debian,
# promtool, the programs of PostgreSQL, and the languages of the receivers that docs/webhooks.md shows.
# For Debian 12 and newer, as root. It does nothing where all of it is there.
set -euo pipefail
packages=(podman buildah runc netavark aardvark-dns conmon catatonit mmdebstrap iptables uidmap nats-server
  prometheus postgresql python3 php-cli ruby ruby-webrick)

missing=()
for package in "${packages[@]}"; do
  dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi
