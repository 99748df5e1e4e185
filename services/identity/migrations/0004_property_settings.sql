ALTER TABLE identity.properties
  -- What values are in that come without a currency over the compatibility surface.
  ADD COLUMN default_currency text NOT NULL DEFAULT 'USD' CHECK (default_currency ~ '^[A-Z]{3}$'),
  -- IANA name.
  ADD COLUMN timezone text NOT NULL DEFAULT 'UTC';
