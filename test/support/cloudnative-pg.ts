/** The part of CloudNativePG's Cluster that the manifests use; any other field counts as a typing error. */

interface Resources {
  cpu?: string;
  memory?: string;
}

/** https://cloudnative-pg.io/documentation/current/cloudnative-pg.v1/ */
export interface ICluster {
  apiVersion: "postgresql.cnpg.io/v1";
  kind: "Cluster";
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  spec: {
    instances: number;
    imageName: string;
    bootstrap: { initdb: { database: string; owner: string } };
    postgresql: {
      synchronous: { method: "any" | "first"; number: number; dataDurability: "required" | "preferred" };
      /** All values are text. */
      parameters: Record<string, string>;
    };
    storage: { size: string; storageClass?: string };
    walStorage: { size: string; storageClass?: string };
    affinity: { podAntiAffinityType: "required" | "preferred"; topologyKey: string };
    resources: { requests: Resources; limits: Resources };
  };
}
