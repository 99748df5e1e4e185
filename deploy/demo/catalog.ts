/** What the store sells, where its customers live and what they are called. All of it is made up. */

export interface Product {
  id: string;
  name: string;
  category: "green tea" | "black tea" | "herbal tea" | "teaware" | "gifts";
  /** In cents of a euro. */
  cents: number;
}

export const products: readonly Product[] = [
  { id: "TEA-1", name: "Sencha", category: "green tea", cents: 890 },
  { id: "TEA-2", name: "Jasmine Pearls", category: "green tea", cents: 1450 },
  { id: "TEA-3", name: "Genmaicha", category: "green tea", cents: 790 },
  { id: "TEA-4", name: "Gyokuro", category: "green tea", cents: 2490 },
  { id: "TEA-5", name: "Matcha, 40 g", category: "green tea", cents: 2150 },
  { id: "TEA-6", name: "Earl Grey", category: "black tea", cents: 690 },
  { id: "TEA-7", name: "Assam Breakfast", category: "black tea", cents: 650 },
  { id: "TEA-8", name: "Darjeeling First Flush", category: "black tea", cents: 1690 },
  { id: "TEA-9", name: "Lapsang Souchong", category: "black tea", cents: 980 },
  { id: "TEA-10", name: "Masala Chai", category: "black tea", cents: 760 },
  { id: "TEA-11", name: "Peppermint", category: "herbal tea", cents: 490 },
  { id: "TEA-12", name: "Camomile", category: "herbal tea", cents: 520 },
  { id: "TEA-13", name: "Rooibos Vanilla", category: "herbal tea", cents: 610 },
  { id: "TEA-14", name: "Ginger and Lemon", category: "herbal tea", cents: 590 },
  { id: "WARE-1", name: "Glass Teapot, 1 l", category: "teaware", cents: 3490 },
  { id: "WARE-2", name: "Cast-iron Kettle", category: "teaware", cents: 6900 },
  { id: "WARE-3", name: "Porcelain Cup", category: "teaware", cents: 1290 },
  { id: "WARE-4", name: "Tea Strainer", category: "teaware", cents: 790 },
  { id: "WARE-5", name: "Bamboo Whisk", category: "teaware", cents: 1190 },
  { id: "GIFT-1", name: "Advent Calendar", category: "gifts", cents: 2990 },
  { id: "GIFT-2", name: "Tasting Box", category: "gifts", cents: 2490 },
  { id: "GIFT-3", name: "Tea and Cup Set", category: "gifts", cents: 3990 },
];

export interface Market {
  country: string;
  currency: "EUR" | "GBP" | "USD";
  /** Prices of the market, for each euro. */
  rate: number;
  timezone: string;
  /** Of the shares of all markets. */
  weight: number;
  cities: readonly { city: string; region: string; zip: string }[];
  /** Numbers that nobody has: ranges that regulators keep for films and books. */
  phones: { prefix: string; first: number; digits: number; count: number };
}

export const markets: readonly Market[] = [
  {
    country: "DE",
    currency: "EUR",
    rate: 1,
    timezone: "Europe/Berlin",
    weight: 46,
    cities: [
      { city: "Berlin", region: "Berlin", zip: "10115" },
      { city: "Hamburg", region: "Hamburg", zip: "20095" },
      { city: "Leipzig", region: "Saxony", zip: "04109" },
      { city: "Munich", region: "Bavaria", zip: "80331" },
      { city: "Cologne", region: "North Rhine-Westphalia", zip: "50667" },
    ],
    // Bundesnetzagentur: (0)30 23125 000 to 999.
    phones: { prefix: "+493023125", first: 0, digits: 3, count: 1000 },
  },
  {
    country: "FR",
    currency: "EUR",
    rate: 1,
    timezone: "Europe/Paris",
    weight: 18,
    cities: [
      { city: "Paris", region: "Île-de-France", zip: "75001" },
      { city: "Lyon", region: "Auvergne-Rhône-Alpes", zip: "69001" },
      { city: "Nantes", region: "Pays de la Loire", zip: "44000" },
    ],
    // Arcep: 06 39 98 00 00 to 99 99.
    phones: { prefix: "+3363998", first: 0, digits: 4, count: 10_000 },
  },
  {
    country: "GB",
    currency: "GBP",
    rate: 0.86,
    timezone: "Europe/London",
    weight: 32,
    cities: [
      { city: "London", region: "England", zip: "E1 6AN" },
      { city: "Leeds", region: "England", zip: "LS1 4AP" },
      { city: "Edinburgh", region: "Scotland", zip: "EH1 1YZ" },
      { city: "Cardiff", region: "Wales", zip: "CF10 1EP" },
    ],
    // Ofcom: 07700 900000 to 900999.
    phones: { prefix: "+447700900", first: 0, digits: 3, count: 1000 },
  },
  {
    country: "US",
    currency: "USD",
    rate: 1.1,
    timezone: "America/New_York",
    weight: 4,
    cities: [
      { city: "Boston", region: "Massachusetts", zip: "02108" },
      { city: "Portland", region: "Maine", zip: "04101" },
    ],
    // NANPA: 555-0100 to 0199.
    phones: { prefix: "+1617555", first: 100, digits: 4, count: 100 },
  },
];

export const firstNames: readonly string[] = (
  "Ada Alma Amir Anton Bela Bruno Carla Chloe Clara Daniel David Elif Elias Emma Enzo Eva Felix Fiona Grace Hanna " +
  "Henry Ida Ines Isaac Jakob Jana Jonas Julia Kai Karim Lara Lea Leo Lina Louis Lucy Maja Marta Max Mia Mila Moritz " +
  "Nadia Nils Nina Noah Nora Oliver Olivia Oscar Paul Petra Rosa Ruth Sam Sofia Theo Tilda Vera Zoe"
).split(" ");

export const lastNames: readonly string[] = (
  "Abel Adler Baker Bauer Berger Blanc Brandt Carter Cole Dubois Ebert Ellis Falk Fischer Garnier Gray Hahn Harris " +
  "Hartmann Hughes Iversen Jansen Keller Klein Lambert Lang Leroy Lindner Marsh Martin Meier Moreau Moss Neumann " +
  "Otto Palmer Peters Petit Quinn Reed Renard Richter Roth Roux Sauer Schmidt Simon Stone Thomas Vogel Wagner Walsh " +
  "Weber Wells Winter Wolf Young Ziegler"
).split(" ");
