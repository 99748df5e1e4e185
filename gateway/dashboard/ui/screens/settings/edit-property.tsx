/** Changes the settings of a property. */
import { useMutation } from "@connectrpc/connect-query";
import { useMemo, useState } from "react";
import { IdentityService, type Property } from "#proto/daybook/identity/v1/identity_pb.ts";
import { ComboBox } from "../../components/combo-box.tsx";
import { InlineError, TextField } from "../../components/field.tsx";
import { toast } from "../../components/toasts.tsx";
import { failureOf } from "../../data/failures.ts";
import { useRereadViewer } from "../../data/viewer.ts";
import { currencyChoices, zoneChoices } from "./choices.ts";

export function EditProperty({ property }: { property: Property }): React.ReactNode {
  const [name, setName] = useState(property.name);
  const [currency, setCurrency] = useState(property.defaultCurrency);
  const [zone, setZone] = useState(property.timezone);
  const zones = useMemo(() => zoneChoices(property.timezone), [property.timezone]);
  const currencies = useMemo(() => currencyChoices(property.defaultCurrency), [property.defaultCurrency]);
  const reread = useRereadViewer();
  const update = useMutation(IdentityService.method.updateProperty, {
    onSuccess: async ({ property: saved }) => {
      if (saved) setName(saved.name);
      await reread();
      toast("The settings are saved. All gateways know them within 5 seconds.");
    },
  });
  const changes = {
    ...(name !== property.name && { name }),
    ...(currency !== property.defaultCurrency && { defaultCurrency: currency }),
    ...(zone !== property.timezone && { timezone: zone }),
  };
  const isUnchanged = Object.keys(changes).length === 0;
  const nameError = update.error ? failureOf(update.error).fields.get("name") : undefined;
  return (
    <form
      className="narrow"
      onSubmit={(event) => {
        event.preventDefault();
        if (update.isPending || isUnchanged || name.trim() === "") return;
        update.mutate({ propertyId: property.id, ...changes });
      }}
    >
      <TextField
        label="Name"
        help="For people. Programs know the property by its id."
        required
        maxLength={255}
        value={name}
        onChange={setName}
        error={nameError}
      />
      <ComboBox label="Default currency" value={currency} options={currencies} onChange={setCurrency} />
      <ComboBox label="Time zone" value={zone} options={zones} onChange={setZone} />
      <InlineError error={nameError === undefined ? update.error : undefined} />
      <button
        type="submit"
        className="button primary"
        aria-disabled={update.isPending || isUnchanged || name.trim() === ""}
      >
        Save
      </button>
    </form>
  );
}
