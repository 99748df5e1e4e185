/** The modal of dialog.tsx. */
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { Icon } from "./icon.tsx";
import type { ModalProps } from "./modal-props.ts";

export default function DialogModal({
  title,
  onClose,
  className = "",
  isAlert = false,
  isSticky = false,
  children,
}: ModalProps): React.ReactNode {
  return (
    <ModalOverlay
      className="overlay"
      isOpen
      isDismissable={!isSticky}
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Modal className={`modal ${className}`}>
        <AriaDialog className="dialog" role={isAlert ? "alertdialog" : "dialog"}>
          <header>
            <Heading slot="title">{title}</Heading>
            <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          </header>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
