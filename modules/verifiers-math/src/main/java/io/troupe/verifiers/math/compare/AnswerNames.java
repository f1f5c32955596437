package io.troupe.verifiers.math.compare;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Constant;
import io.troupe.verifiers.math.expr.Expr.Listing;
import io.troupe.verifiers.math.expr.Expr.Numeral;
import io.troupe.verifiers.math.expr.Expr.Variable;
import io.troupe.verifiers.math.expr.Operator;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What may be on the left of an equation that only names a value. */
final class AnswerNames {
  private static final String FUNCTIONS = "fghpqruvsyFGHPQVSTEA";

  /** Of an angle they are asked for; of x they are an equation to be solved. */
  private static final Set<Operator> TRIGONOMETRIC =
      Set.of(Operator.SIN, Operator.COS, Operator.TAN, Operator.COT);

  /** Words that say something else of what they are before; of an event they may be a part. */
  private static final Pattern CLAIM =
      Pattern.compile(
          "(?!m (?:p|pr) )(?:.* )?(?:not|isn't|never|than|at (?:least|most)|except|wrong|incorrect"
              + "|twice|double|triple|half|third|quarter|(?:square|cube|opposite|reciprocal|negative"
              + "|inverse) of|(?:square|cube|cubic) root)(?: .*)?");

  /**
   * A name.
   *
   * @param key the same for the same name, whatever its parameter is called
   * @param parameter the variable that the value depends on; empty if there is none
   */
  record Name(String key, String parameter) {
    /** Whether it names the same. The graph of a function is called y. */
    boolean isSame(Name other) {
      return key.equals(other.key)
          || (key.endsWith("'") && other.key.equals(key + "(#)"))
          || (other.key.endsWith("'") && key.equals(other.key + "(#)"))
          || (isGraph() && other.key.equals("y"))
          || (key.equals("y") && other.isGraph());
    }

    private boolean isGraph() {
      return key.equals("f(#)") || key.equals("f^-1(#)") || key.equals("y(#)");
    }
  }

  private AnswerNames() {}

  static Optional<Name> of(Expr expr) {
    return switch (expr) {
      case Variable(var name) -> Optional.of(variable(name));
      case Constant(var name) when name == Constant.Name.E || name == Constant.Name.I ->
          Optional.of(new Name(name.name().toLowerCase(Locale.ROOT), ""));
      case Expr.Letters(var run, _) when run.chars().allMatch(Character::isUpperCase) ->
          Optional.of(new Name(segment(run), ""));
      case Expr.Words(var text) ->
          Optional.of(new Name(text, "")).filter(_ -> !CLAIM.matcher(text).matches());
      case Listing list
          when (list.isBare() || list.isSet() || list.isTuple())
              && list.items().stream().allMatch(Variable.class::isInstance) ->
          Optional.of(
              new Name(
                  list.items().stream()
                      .map(item -> ((Variable) item).name())
                      .collect(Collectors.joining(",", "(", ")")),
                  ""));
      case Call(var operator, var arguments)
          when operator == Operator.MULTIPLY && arguments.size() == 2 ->
          applied(arguments.get(0), arguments.get(1));
      case Call(var operator, var arguments)
          when operator == Operator.ABSOLUTE && isMeasured(arguments.get(0)) ->
          Optional.of(new Name(measured(arguments.get(0)), ""));
      case Call(var operator, var arguments)
          when TRIGONOMETRIC.contains(operator)
              && arguments.get(0) instanceof Variable(var angle)
              && (angle.startsWith("\\") || Character.isUpperCase(angle.charAt(0))) ->
          Optional.of(new Name(operator + " " + angle, ""));
      case Call sum when isSumOfLetters(sum) -> Optional.of(new Name(sum.toString(), ""));
      case Expr.Ratio(var parts)
          when parts.stream().allMatch(Variable.class::isInstance)
              && Set.copyOf(parts).size() == parts.size() ->
          Optional.of(new Name(parts.toString(), ""));
      default -> Optional.empty();
    };
  }

  /**
   * Letters added up, as contests ask for them: {@code m+n}, {@code 10a+b}. With x, y or z it may
   * be an equation that was given.
   */
  private static boolean isSumOfLetters(Call sum) {
    return sum.operator() == Operator.ADD
        && Expr.variables(sum).size() == sum.arguments().size()
        && sum.arguments().stream().allMatch(AnswerNames::isLetter);
  }

  private static boolean isLetter(Expr term) {
    return switch (term) {
      case Variable(var name) -> !"xyz".contains(name.substring(0, 1));
      case Call(var operator, var factors) ->
          operator == Operator.MULTIPLY
              && factors.size() == 2
              && factors.get(0) instanceof Numeral
              && isLetter(factors.get(1));
      default -> false;
    };
  }

  /** A segment has no direction. */
  private static String segment(String run) {
    return run.length() == 2 && run.charAt(0) > run.charAt(1)
        ? run.substring(1) + run.charAt(0)
        : run;
  }

  /** The bars around a segment say that its length is meant, as its name alone does. */
  private static String measured(Expr inside) {
    String letters =
        inside instanceof Call(_, var factors)
            ? factors.stream().map(each -> ((Variable) each).name()).collect(Collectors.joining())
            : "";
    return letters.length() == 2 ? segment(letters) : "|" + inside + "|";
  }

  /** A set, a segment or a vector: what may be between bars as a name. */
  private static boolean isMeasured(Expr inside) {
    boolean named =
        inside instanceof Variable(var name)
            && (Character.isUpperCase(name.charAt(0)) || name.startsWith("\\"));
    boolean letters =
        inside instanceof Expr.Letters(var run, _) && run.chars().allMatch(Character::isUpperCase);
    return named
        || letters
        || (inside instanceof Call(var operator, var factors)
            && operator == Operator.MULTIPLY
            && factors.size() == 2
            && factors.stream()
                .allMatch(
                    letter ->
                        letter instanceof Variable(var name)
                            && Character.isUpperCase(name.charAt(0))));
  }

  private static Name variable(String name) {
    if (name.matches("d[a-zA-Z]/d[a-z]")) {
      return new Name(name.charAt(1) + "'", "");
    }
    int index = name.indexOf('_');
    boolean sequence =
        index > 0 && index == name.length() - 2 && Character.isLetter(name.charAt(index + 1));
    return sequence && "nkmij".indexOf(name.charAt(index + 1)) >= 0
        ? new Name(name.substring(0, index) + "_#", name.substring(index + 1))
        : new Name(name, "");
  }

  private static Optional<Name> applied(Expr function, Expr argument) {
    if (function.equals(new Variable("m"))
        && argument instanceof Variable(var angle)
        && angle.startsWith("\\angle")) {
      return Optional.of(new Name(angle, ""));
    }
    String suffix = "";
    Expr base = function;
    if (function instanceof Call(var operator, var arguments)
        && operator == Operator.POWER
        && arguments.get(1).equals(new Call(Operator.NEGATE, Numeral.of(1)))) {
      base = arguments.get(0);
      suffix = "^-1";
    }
    if (!(base instanceof Variable(var name)) || FUNCTIONS.indexOf(name.charAt(0)) < 0) {
      return Optional.empty();
    }
    String plain = name.replace("'", "");
    if (plain.length() != 1) {
      return Optional.empty();
    }
    return switch (argument) {
      case Variable(var parameter) -> Optional.of(new Name(name + suffix + "(#)", parameter));
      case Numeral(var value, _, _) ->
          Optional.of(new Name("%s%s(%s)".formatted(name, suffix, value), ""));
      default -> Optional.empty();
    };
  }
}
