/** What a dialog is made of: shared with its modal, which is loaded later. */

export interface ModalProps {
  title: string;
  onClose: () => void;
  className?: string;
  /** For what cannot be undone. */
  isAlert?: boolean;
  /** A click beside it does not close it. */
  isSticky?: boolean;
  children: React.ReactNode;
}
