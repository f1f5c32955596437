package io.troupe.chat.python;

import io.troupe.base.text.PythonText;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Python's {@code text % values}. */
public final class PercentFormat {
  private static final Pattern DIRECTIVE =
      Pattern.compile(
          "%(?:\\(([^()]*)\\))?([-+ 0#]*)(\\*|\\d{0,4})(?:\\.(\\*|\\d{0,3}))?[hlL]?(.)",
          Pattern.DOTALL);

  private final List<TemplateValue> values;
  private final TemplateValue named;
  private int used;

  private PercentFormat(List<TemplateValue> values, TemplateValue named) {
    this.values = values;
    this.named = named;
  }

  /**
   * Formats values.
   *
   * @param values a tuple of them, a dictionary for names in parentheses, or a single value
   */
  public static String of(String format, TemplateValue values) {
    boolean several = values instanceof TemplateValue.Tuple;
    PercentFormat left = new PercentFormat(several ? values.items() : List.of(values), values);
    StringBuilder text = new StringBuilder();
    Matcher directive = DIRECTIVE.matcher(format);
    int at = 0;
    for (int next = format.indexOf('%'); next >= 0; next = format.indexOf('%', at)) {
      text.append(format, at, next);
      if (!directive.region(next, format.length()).lookingAt()) {
        throw new TemplateException("'%s' has a directive without an end".formatted(format));
      }
      text.append(left.one(directive));
      at = directive.end();
    }
    boolean free = values instanceof TemplateValue.Dict || values instanceof TemplateValue.Seq;
    if (left.used < left.values.size() && !(free && left.used == 0)) {
      throw new TemplateException("'%s' takes fewer values than it is given".formatted(format));
    }
    return text.append(format.substring(at)).toString();
  }

  private TemplateValue next() {
    if (used >= values.size()) {
      throw new TemplateException("a format takes more values than it is given");
    }
    return values.get(used++);
  }

  private String one(Matcher directive) {
    String conversion = directive.group(5);
    String flags = directive.group(2);
    boolean bare = directive.group(1) == null && flags.isEmpty();
    if (conversion.equals("%")
        && bare
        && directive.group(3).isEmpty()
        && directive.group(4) == null) {
      return "%";
    }
    int width = count(directive.group(3), 0);
    int precision = directive.group(4) == null ? -1 : count(directive.group(4), 0);
    boolean left = flags.contains("-") || width < 0;
    boolean zero = flags.contains("0") && !left;
    String sign = flags.contains("+") ? "+" : flags.contains(" ") ? " " : "";
    TemplateValue value = directive.group(1) == null ? next() : named(directive.group(1));
    return switch (conversion) {
      case "s" -> padded(cut(value.text(), precision), width, left);
      case "r" -> padded(cut(value.repr(), precision), width, left);
      case "d", "i", "u", "x", "X", "o" -> {
        boolean hexadecimal = "xXo".contains(conversion);
        if (precision >= 0 || (hexadecimal && value instanceof TemplateValue.Real)) {
          throw unsupported(directive.group());
        }
        String type = hexadecimal ? conversion : "d";
        TemplateValue whole =
            value instanceof TemplateValue.Real(double number)
                ? new TemplateValue.Int(NumberText.truncated(number))
                : new TemplateValue.Int(value.whole());
        yield spec(width, left, zero, sign, flags.contains("#"), -1, type).format(whole);
      }
      case "f", "F", "e", "E", "g", "G" ->
          spec(width, left, zero, sign, flags.contains("#"), precision, conversion)
              .format(new TemplateValue.Real(value.number()));
      default -> throw unsupported(directive.group());
    };
  }

  private int count(String given, int otherwise) {
    return given.equals("*")
        ? next().index()
        : given.isEmpty() ? otherwise : Integer.parseInt(given);
  }

  private static FormatSpec spec(
      int width,
      boolean left,
      boolean zero,
      String sign,
      boolean other,
      int precision,
      String type) {
    String align = left ? "<" : zero ? "=" : ">";
    return new FormatSpec(
        zero ? "0" : " ", align, sign, other, Math.abs(width), "", precision, type);
  }

  private static TemplateException unsupported(String directive) {
    return new TemplateException(
        String.format(Locale.ROOT, "the directive '%s' of a format is not supported", directive));
  }

  private TemplateValue named(String name) {
    TemplateValue value = named instanceof TemplateValue.Dict dict ? dict.get(name) : null;
    if (value == null) {
      throw new TemplateException("a format finds no value '%s'".formatted(name));
    }
    return value;
  }

  private static String cut(String text, int precision) {
    return precision < 0 ? text : PythonText.slice(text, 0, precision);
  }

  private static String padded(String text, int width, boolean left) {
    int missing = Math.abs(width) - PythonText.length(text);
    String blanks = " ".repeat(Math.max(0, missing));
    return left ? text + blanks : blanks + text;
  }
}
