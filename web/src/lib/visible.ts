/** A task as one sees it. */
export interface Visible {
  id: number;
  title: string;
}

let visible: () => readonly Visible[] = () => [];

/** Tells what tasks stand beside the conversation, in their order, until the function that it returns is called. */
export function whileVisible(tasks: () => readonly Visible[]): () => void {
  visible = tasks;
  return () => {
    if (visible === tasks) visible = () => [];
  };
}

/** The tasks that stand beside the conversation now. */
export const visibleTasks = () => visible().map(({ id, title }) => ({ id, title }));
