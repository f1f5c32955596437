package io.troupe.store.objects;

/** The condition under which an object is stored. */
public sealed interface PutCondition {
  /** The object is stored in any case. */
  record Always() implements PutCondition {}

  /** The key has no object. */
  record Absent() implements PutCondition {}

  /** The key's object has this tag. */
  record Tagged(String tag) implements PutCondition {}
}
