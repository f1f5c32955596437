package io.troupe.verifiers.instructions;

import io.troupe.base.text.PythonText;
import io.troupe.verifiers.python.InvalidPatternException;
import io.troupe.verifiers.python.PythonPattern;
import io.troupe.verifiers.python.PythonPattern.Flag;
import io.troupe.verifiers.python.PythonValue;
import io.troupe.verifiers.python.PythonValue.Items;
import io.troupe.verifiers.python.PythonValue.None;
import io.troupe.verifiers.python.PythonValue.Num;
import io.troupe.verifiers.python.PythonValue.Text;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The arguments of one instruction of one prompt. A null argument counts as absent.
 *
 * <p>Where the reference checkers draw an absent number or word at random, as they do when they
 * write prompts, a verdict would be chance: here an absent argument is an error.
 */
final class InstructionArguments {
  /** Arguments that do not say what to check. */
  static final class BadArgumentException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String problem;

    BadArgumentException(String problem) {
      super(problem);
      this.problem = problem;
    }

    String problem() {
      return problem;
    }
  }

  private final Map<String, PythonValue> values = new HashMap<>();
  private final Set<String> read = new HashSet<>();

  InstructionArguments(Map<String, PythonValue> given) {
    given.forEach(
        (name, value) -> {
          if (!(value instanceof None)) {
            values.put(name, value);
          }
        });
  }

  /** A text that is not empty, as written. */
  String text(String name) {
    if (value(name) instanceof Text(var text) && !text.isEmpty()) {
      return text;
    }
    throw wrong(name, "text");
  }

  /** Returns a word without white space around it; of a list the first word. */
  String word(String name) {
    PythonValue value = value(name);
    PythonValue first =
        value instanceof Items(var items) && !items.isEmpty() ? items.getFirst() : value;
    if (first instanceof Text(var text) && !PythonText.isBlank(text)) {
      return PythonText.strip(text);
    }
    throw wrong(name, "a word");
  }

  /** A list of texts that is not empty. */
  List<String> texts(String name) {
    if (value(name) instanceof Items(var items)
        && !items.isEmpty()
        && items.stream().allMatch(Text.class::isInstance)) {
      return items.stream().map(item -> ((Text) item).value()).toList();
    }
    throw wrong(name, "a list of texts");
  }

  /** A number that is not negative. */
  double number(String name) {
    if (value(name) instanceof Num(var number) && number >= 0 && number < 1e9) {
      return number;
    }
    throw wrong(name, "a number that is not negative");
  }

  /** A whole number that is not negative; 5.0 is one. */
  int count(String name) {
    double number = number(name);
    if (number != Math.rint(number)) {
      throw wrong(name, "a whole number");
    }
    return (int) number;
  }

  /** A whole number from 1. */
  int ordinal(String name) {
    int count = count(name);
    if (count == 0) {
      throw wrong(name, "a number from 1");
    }
    return count;
  }

  CountRelation relation(String name) {
    return CountRelation.named(text(name));
  }

  /** Returns a keyword, which is a regular expression whatever its case. */
  PythonPattern keyword(String name) {
    return pattern(word(name), Flag.IGNORE_CASE);
  }

  /** A regular expression made from data. */
  static PythonPattern pattern(String pattern, Flag... flags) {
    try {
      return PythonPattern.compile(pattern, flags);
    } catch (InvalidPatternException e) {
      throw new BadArgumentException(e.problem());
    }
  }

  /** Ignores an argument that the reference knows and does not use. */
  void ignore(String name) {
    read.add(name);
  }

  /** Ignores the arguments that are left, as the reference does for some instructions. */
  void ignoreAll() {
    read.addAll(values.keySet());
  }

  void requireAllRead() {
    for (String name : values.keySet()) {
      if (!read.contains(name)) {
        throw new BadArgumentException("an argument it does not have: " + name);
      }
    }
  }

  private PythonValue value(String name) {
    read.add(name);
    PythonValue value = values.get(name);
    if (value == null) {
      throw new BadArgumentException("no " + name);
    }
    return value;
  }

  private static BadArgumentException wrong(String name, String rule) {
    return new BadArgumentException("%s is not %s".formatted(name, rule));
  }
}
