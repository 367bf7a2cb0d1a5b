// A value that parts of the page share, and that tells them when it changes.
import { useEffect, useState } from "preact/hooks";

export interface Store<T> {
  get(): T;
  set(value: T): void;
  watch(listener: () => void): () => void;
}

export function makeStore<T>(first: T): Store<T> {
  let current = first;
  const listeners = new Set<() => void>();
  return {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const listener of [...listeners]) listener();
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get());
  useEffect(() => {
    const take = () => setValue(() => store.get());
    take(); // it may have changed before this listened
    return store.watch(take);
  }, [store]);
  return value;
}
