package io.troupe.verifiers.python;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A value of JSON or of a Python literal. */
public sealed interface PythonValue {
  /** {@code null} and {@code None}. */
  record None() implements PythonValue {}

  /** {@code true} and {@code True}. */
  record Bool(boolean value) implements PythonValue {}

  /** Integers and floats. */
  record Num(double value) implements PythonValue {}

  /** Text. */
  record Text(String value) implements PythonValue {}

  /** Lists, tuples and sets. */
  record Items(List<PythonValue> values) implements PythonValue {}

  /** Dictionaries; of equal keys the last one counts. */
  record Dict(Map<String, PythonValue> values) implements PythonValue {}

  /** The entry of a dictionary; empty where there is none, or this is none. */
  default Optional<PythonValue> get(String key) {
    return this instanceof Dict(var values)
        ? Optional.ofNullable(values.get(key))
        : Optional.empty();
  }
}
