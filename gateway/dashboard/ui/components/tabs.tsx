/** Parts of a screen, one at a time. The URL says which. */
import { Tab, TabList, TabPanel, Tabs as AriaTabs } from "react-aria-components";

export function Tabs<Id extends string>({
  label,
  tabs,
  current,
  onChange,
}: {
  label: string;
  tabs: readonly { id: Id; title: string; content: React.ReactNode }[];
  current: Id;
  onChange: (id: Id) => void;
}): React.ReactNode {
  return (
    <AriaTabs className="tabs" selectedKey={current} onSelectionChange={(key) => onChange(key as Id)}>
      <TabList aria-label={label} className="tab-list">
        {tabs.map(({ id, title }) => (
          <Tab key={id} id={id} className="tab">
            {title}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ id, content }) => (
        <TabPanel key={id} id={id} className="tab-panel">
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  );
}
