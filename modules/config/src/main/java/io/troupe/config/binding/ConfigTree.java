package io.troupe.config.binding;

import io.troupe.base.text.SafeText;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A YAML document without its types: mappings, sequences and texts, each with its origin. */
public sealed interface ConfigTree {
  /** Returns where the node was written. */
  ValueOrigin origin();

  /** Keys and their values, in the order of the file. */
  record Mapping(List<Entry> entries, ValueOrigin origin) implements ConfigTree {
    public Mapping {
      entries = List.copyOf(entries);
    }

    /** The entry of a key. */
    Optional<Entry> entry(String key) {
      return entries.stream().filter(entry -> entry.key().equals(key)).findFirst();
    }

    /** This mapping with the entry's key set to its value, in place or at the end. */
    Mapping with(Entry entry) {
      List<Entry> changed = new ArrayList<>(entries);
      int at = entries.indexOf(entry(entry.key()).orElse(entry));
      if (at < 0) {
        changed.add(entry);
      } else {
        changed.set(at, entry);
      }
      return new Mapping(changed, origin);
    }
  }

  /**
   * A key and its value.
   *
   * @param origin of the key, which for a long value is not the value's
   */
  record Entry(String key, ValueOrigin origin, ConfigTree value) {}

  /** Values in a row. */
  record Sequence(List<ConfigTree> items, ValueOrigin origin) implements ConfigTree {
    public Sequence {
      items = List.copyOf(items);
    }
  }

  /**
   * A text.
   *
   * @param plain written without quotes, so that it may also be a number
   */
  record Scalar(String text, boolean plain, ValueOrigin origin) implements ConfigTree {
    /** Whether the scalar is one of YAML's forms of null. */
    boolean isNothing() {
      return plain && (text.isEmpty() || text.equals("~") || text.equals("null"));
    }
  }

  /** The value as a person wrote it, on one line. */
  default String describe() {
    return switch (this) {
      case Mapping _ -> "a section";
      case Sequence _ -> "a list";
      case Scalar scalar when scalar.isNothing() -> "nothing";
      case Scalar scalar when scalar.plain() -> scalar.text();
      case Scalar scalar -> '"' + SafeText.escaped(scalar.text()) + '"';
    };
  }
}
