/**
 * A table of data: the native element, so that readers, find-in-page and selection work as everywhere. j and k move
 * between rows, Enter opens one. Narrow screens show each row as a card.
 */
import { useRef } from "react";
import { shortcuts, useShortcuts } from "../data/shortcuts.ts";
import { Skeleton } from "./skeleton.tsx";

export interface Column<Row> {
  id: string;
  title: string;
  cell: (row: Row) => React.ReactNode;
  /** Numbers stand at the end, so that digits are under digits. */
  align?: "end";
  /** Left out where the screen is too narrow for all, cards too. */
  isMinor?: boolean;
}

export interface TableProps<Row> {
  /** What the rows are: the table's name. */
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined while they load. */
  rows: readonly Row[] | undefined;
  keyOf: (row: Row) => string;
  /** Opens a row, usually in a side panel. The first column becomes its button. */
  onOpen?: (row: Row) => void;
  /** The row that is open. */
  openKey?: string | undefined;
  /** Instead of the table when there are no rows. */
  empty: React.ReactNode;
}

export function Table<Row>(props: TableProps<Row>): React.ReactNode {
  const { label, columns, rows, keyOf, onOpen, openKey, empty } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const move = (step: 1 | -1): void => {
    const all = [...(body.current?.querySelectorAll<HTMLElement>("[data-row]") ?? [])];
    const current = document.activeElement?.closest("[data-row]");
    const at = all.findIndex((row) => row === current || (!current && row.dataset["open"] === "true"));
    const next = all[at === -1 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)];
    (next?.querySelector<HTMLElement>(".row-open") ?? next)?.focus();
    next?.scrollIntoView({ block: "nearest" });
  };
  useShortcuts({ [shortcuts.down.keys]: () => move(1), [shortcuts.up.keys]: () => move(-1) });

  if (!rows) return <Skeleton lines={8} />;
  if (rows.length === 0) return empty;
  return (
    <table className="table">
      <caption className="hidden">{label}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.id} scope="col" data-align={column.align} data-minor={column.isMinor}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {rows.map((row) => {
          const key = keyOf(row);
          return (
            <TableRow key={key} row={row} columns={columns} isOpen={key === openKey} {...(onOpen && { onOpen })} />
          );
        })}
      </tbody>
    </table>
  );
}

function TableRow<Row>({
  row,
  columns,
  isOpen,
  onOpen,
}: {
  row: Row;
  columns: readonly Column<Row>[];
  isOpen: boolean;
  onOpen?: (row: Row) => void;
}): React.ReactNode {
  const open = (event: React.MouseEvent): void => {
    // A click on a button or link in the row, or the end of selecting text, opens nothing.
    const target = event.target as HTMLElement;
    if (target.closest("a,button,input,label") || globalThis.getSelection()?.toString()) return;
    onOpen?.(row);
  };
  return (
    // The button in the first cell does the same by keyboard.
    <tr data-row data-open={isOpen} {...(onOpen ? { onClick: open, className: "openable" } : { tabIndex: -1 })}>
      {columns.map((column, index) => (
        <td key={column.id} data-title={column.title} data-align={column.align} data-minor={column.isMinor}>
          {index === 0 && onOpen ? (
            <button type="button" className="row-open" aria-expanded={isOpen} onClick={() => onOpen(row)}>
              {column.cell(row)}
            </button>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
  );
}

/** Reads the next page of a list by its cursor. */
export function LoadMore({
  hasMore,
  isLoading,
  onMore,
}: {
  hasMore: boolean;
  isLoading: boolean;
  onMore: () => void;
}): React.ReactNode {
  if (!hasMore) return null;
  return (
    <p className="load-more">
      <button type="button" className="button" disabled={isLoading} onClick={onMore}>
        {isLoading ? "Loading …" : "Load more"}
      </button>
    </p>
  );
}
