package io.troupe.chat.python;

import io.troupe.base.text.PythonNumber;
import io.troupe.base.text.PythonText;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One value in the form of Python's format specifications.
 *
 * @param align {@code <}, {@code >}, {@code ^} or {@code =}; empty for the type's own
 * @param sign {@code +} or a blank for a sign of positive numbers too, else empty or {@code -}
 * @param precision negative if none is given
 * @param type a letter; empty for the value's own
 */
record FormatSpec(
    String fill,
    String align,
    String sign,
    boolean alternative,
    int width,
    String grouping,
    int precision,
    String type) {
  private static final Pattern FORM =
      Pattern.compile(
          "(?:(.)?([<>=^]))?([-+ ]?)(#?)(0?)(\\d{0,4})([,_]?)(?:\\.(\\d{1,3}))?([a-zA-Z%]?)",
          Pattern.DOTALL);

  /** Reads what stands behind the colon of a replacement field. */
  static FormatSpec of(String spec) {
    Matcher form = FORM.matcher(spec);
    if (!form.matches()) {
      throw new TemplateException("the format '%s' is not supported".formatted(spec));
    }
    boolean zero = !form.group(5).isEmpty();
    String fill = form.group(1) == null ? (zero ? "0" : " ") : form.group(1);
    String align = form.group(2) == null ? (zero ? "=" : "") : form.group(2);
    return new FormatSpec(
        fill,
        align,
        form.group(3),
        !form.group(4).isEmpty(),
        form.group(6).isEmpty() ? 0 : Integer.parseInt(form.group(6)),
        form.group(7),
        form.group(8) == null ? -1 : Integer.parseInt(form.group(8)),
        form.group(9));
  }

  /** {@code format(value, spec)}. */
  String format(TemplateValue value) {
    boolean plain = equals(of(""));
    return switch (value) {
      case TemplateValue.Text(String text) -> text(text);
      case TemplateValue.Bool _ when type.isEmpty() && plain -> value.text();
      case TemplateValue.Int _, TemplateValue.Bool _ when "bdoxXc".contains(type) ->
          whole(value.whole());
      case TemplateValue.Int _, TemplateValue.Bool _, TemplateValue.Real _ -> real(value.number());
      default -> {
        if (!plain) {
          throw unsupported();
        }
        yield value.text();
      }
    };
  }

  private TemplateException unsupported() {
    return new TemplateException("this format of a value is not supported");
  }

  private String text(String text) {
    boolean other = !type.isEmpty() && !type.equals("s");
    if (other || align.equals("=") || !sign.isEmpty() || alternative || !grouping.isEmpty()) {
      throw unsupported();
    }
    return padded("", precision < 0 ? text : PythonText.slice(text, 0, precision), "<");
  }

  private String whole(BigInteger value) {
    if (precision >= 0
        || type.equals("c")
        || (!grouping.isEmpty() && "boxX".contains(type) && !type.isEmpty())) {
      throw unsupported();
    }
    int radix =
        switch (type) {
          case "b" -> 2;
          case "o" -> 8;
          case "x", "X" -> 16;
          default -> 10;
        };
    String digits = value.abs().toString(radix);
    String prefix = alternative && radix != 10 ? "0" + type : "";
    return padded(
        signOf(value.signum() < 0) + prefix,
        grouped(type.equals("X") ? digits.toUpperCase(Locale.ROOT) : digits),
        ">");
  }

  private String real(double value) {
    if (alternative || (!Double.isFinite(value) && align.equals("="))) {
      throw unsupported();
    }
    boolean negative = value < 0 || (value == 0 && 1 / value < 0);
    return padded(signOf(negative), grouped(digits(Math.abs(value), type, precision)), ">");
  }

  /** The digits of a number that is not negative. */
  static String digits(double value, String type, int precision) {
    if (!Double.isFinite(value)) {
      if (type.equals("%")) {
        throw new TemplateException("this format of a value is not supported");
      }
      String word = PythonNumber.repr(value);
      return type.equals(type.toUpperCase(Locale.ROOT)) && !type.isEmpty()
          ? word.toUpperCase(Locale.ROOT)
          : word;
    }
    int places = precision < 0 ? 6 : precision;
    return switch (type) {
      case "" -> {
        if (precision >= 0) {
          throw new TemplateException("a precision without a type is not supported");
        }
        yield PythonNumber.repr(value);
      }
      case "f", "F" -> fixed(new BigDecimal(value), places);
      case "%" -> fixed(new BigDecimal(value * 100), places) + "%";
      case "e" -> scientific(value, places);
      case "E" -> scientific(value, places).toUpperCase(Locale.ROOT);
      case "g" -> general(value, places);
      case "G" -> general(value, places).toUpperCase(Locale.ROOT);
      default -> throw new TemplateException("the format '%s' is not supported".formatted(type));
    };
  }

  private static String fixed(BigDecimal value, int places) {
    return value.setScale(places, RoundingMode.HALF_EVEN).toPlainString();
  }

  private static String scientific(double value, int places) {
    BigDecimal rounded =
        new BigDecimal(value).round(new MathContext(places + 1, RoundingMode.HALF_EVEN));
    int exponent = value == 0 ? 0 : rounded.precision() - rounded.scale() - 1;
    String digits = value == 0 ? "0" : rounded.unscaledValue().toString();
    String all = digits + "0".repeat(Math.max(0, places + 1 - digits.length()));
    String fraction = places == 0 ? "" : "." + all.substring(1, places + 1);
    String size = Math.abs(exponent) < 10 ? "0" : "";
    return all.charAt(0) + fraction + (exponent < 0 ? "e-" : "e+") + size + Math.abs(exponent);
  }

  private static String general(double value, int places) {
    int digits = Math.max(1, places);
    String form = scientific(value, digits - 1);
    int at = form.indexOf('e');
    int exponent = Integer.parseInt(form.substring(at + 1));
    if (exponent < -4 || exponent >= digits) {
      return bare(form.substring(0, at)) + form.substring(at);
    }
    return bare(fixed(new BigDecimal(value), digits - 1 - exponent));
  }

  private static String bare(String digits) {
    return digits.contains(".") ? digits.replaceFirst("\\.?0+$", "") : digits;
  }

  private String signOf(boolean negative) {
    return negative ? "-" : sign.equals("-") ? "" : sign;
  }

  private String grouped(String digits) {
    if (grouping.isEmpty()) {
      return digits;
    }
    if (align.equals("=") && fill.equals("0")) {
      throw unsupported();
    }
    int end = 0;
    while (end < digits.length() && Character.isDigit(digits.charAt(end))) {
      end++;
    }
    return digits.substring(0, end).replaceAll("(?<=\\d)(?=(?:\\d{3})+$)", grouping)
        + digits.substring(end);
  }

  private String padded(String lead, String body, String own) {
    int missing = width - PythonText.length(lead) - PythonText.length(body);
    if (missing <= 0) {
      return lead + body;
    }
    return switch (align.isEmpty() ? own : align) {
      case "<" -> lead + body + fill.repeat(missing);
      case "=" -> lead + fill.repeat(missing) + body;
      case "^" -> fill.repeat(missing / 2) + lead + body + fill.repeat(missing - missing / 2);
      default -> fill.repeat(missing) + lead + body;
    };
  }
}
