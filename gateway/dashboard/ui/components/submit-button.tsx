/**
 * The button that sends a form. While its act is under way it sends nothing and keeps the focus: a disabled button
 * would lose it, and Esc would reach what lies below the dialog.
 */
export function SubmitButton({
  isPending,
  className = "button primary",
  ...rest
}: { isPending: boolean } & Omit<React.ComponentProps<"button">, "type" | "onClick">): React.ReactNode {
  return (
    <button
      {...rest}
      type="submit"
      className={className}
      aria-disabled={isPending}
      // Enter in a field of the form clicks it too.
      onClick={(event) => {
        if (isPending) event.preventDefault();
      }}
    />
  );
}
