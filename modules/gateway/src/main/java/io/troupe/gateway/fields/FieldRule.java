package io.troupe.gateway.fields;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Set;

/** What becomes of a field of a request. A field that is null is always as one that is absent. */
public sealed interface FieldRule {
  /** The answer depends on the field. */
  record Read(FieldShape shape) implements FieldRule {}

  /** {@code troupe serve} reads the field; a run's gateway has settings of its own. */
  record OfServer(FieldShape shape) implements FieldRule {}

  /**
   * Only some readers read the field; with the others it must ask for what happens anyway.
   *
   * @param plain values that ask for what happens anyway
   * @param why the others do not read it
   */
  record Limited(FieldShape shape, Set<RequestReader> readers, List<JsonNode> plain, String why)
      implements FieldRule {
    public Limited {
      readers = Set.copyOf(readers);
      plain = List.copyOf(plain);
    }
  }

  /** No answer depends on the field: it is bookkeeping, or a hint. */
  record PassedOver(FieldShape shape) implements FieldRule {}

  /**
   * Nobody reads the field, which would change the answer: it must ask for what happens anyway.
   *
   * @param plain values that ask for what happens anyway; none if the field must be left out
   * @param why other values are refused
   */
  record Only(List<JsonNode> plain, String why) implements FieldRule {
    public Only {
      plain = List.copyOf(plain);
    }
  }
}
