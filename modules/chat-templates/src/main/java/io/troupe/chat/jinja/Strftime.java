package io.troupe.chat.jinja;

import io.troupe.chat.python.TemplateException;
import java.time.Clock;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoField;
import java.time.temporal.IsoFields;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Python's {@code datetime.now().strftime} as it is on Linux, in the C locale. */
final class Strftime {
  private static final Pattern DIRECTIVE = Pattern.compile("%([-_0^]?)(.)", Pattern.DOTALL);

  private Strftime() {}

  static String now(Clock clock, String format) {
    ZonedDateTime now = ZonedDateTime.now(clock);
    return expanded(now, format);
  }

  private static String expanded(ZonedDateTime now, String format) {
    StringBuilder text = new StringBuilder();
    Matcher directive = DIRECTIVE.matcher(format);
    int at = 0;
    while (directive.find()) {
      text.append(format, at, directive.start());
      at = directive.end();
      text.append(flagged(now, directive.group(1), directive.group(2).charAt(0)));
    }
    String rest = format.substring(at);
    if (rest.contains("%")) {
      throw new TemplateException("strftime_now knows no '%' at the end");
    }
    return text.append(rest).toString();
  }

  private static String flagged(ZonedDateTime now, String flag, char directive) {
    String value = value(now, directive);
    boolean numeric = "dmyYHIMSjeklUWVGgCuws".indexOf(directive) >= 0;
    return switch (flag) {
      case "" -> value;
      case "^" -> value.toUpperCase(Locale.ROOT);
      case "-" -> {
        refuseUnless(numeric, flag, directive);
        yield value.replaceFirst("^[ 0]+(?=\\d)", "");
      }
      default -> {
        refuseUnless(numeric, flag, directive);
        String digits = value.replaceFirst("^[ 0]+(?=\\d)", "");
        String pad = flag.equals("_") ? " " : "0";
        yield pad.repeat(value.length() - digits.length()) + digits;
      }
    };
  }

  private static void refuseUnless(boolean known, String flag, char directive) {
    if (!known) {
      throw new TemplateException("strftime_now knows no '%%%s%c'".formatted(flag, directive));
    }
  }

  private static String value(ZonedDateTime now, char directive) {
    int sunday = now.getDayOfWeek().getValue() % 7;
    return switch (directive) {
      case 'd' -> in(now, "dd");
      case 'm' -> in(now, "MM");
      case 'y' -> in(now, "yy");
      case 'Y' -> in(now, "yyyy");
      case 'b', 'h' -> in(now, "MMM");
      case 'B' -> in(now, "MMMM");
      case 'a' -> in(now, "EEE");
      case 'A' -> in(now, "EEEE");
      case 'H' -> in(now, "HH");
      case 'I' -> in(now, "hh");
      case 'M' -> in(now, "mm");
      case 'S' -> in(now, "ss");
      case 'p' -> in(now, "a");
      case 'P' -> in(now, "a").toLowerCase(Locale.ROOT);
      case 'j' -> in(now, "DDD");
      case 'f' -> padded("%06d", now.getNano() / 1000);
      case 'e' -> padded("%2d", now.getDayOfMonth());
      case 'k' -> padded("%2d", now.getHour());
      case 'l' -> padded("%2d", now.get(ChronoField.CLOCK_HOUR_OF_AMPM));
      case 'C' -> padded("%02d", now.getYear() / 100);
      case 'u' -> padded("%d", now.getDayOfWeek().getValue());
      case 'w' -> padded("%d", sunday);
      case 'U' -> padded("%02d", (now.getDayOfYear() + 6 - sunday) / 7);
      case 'W' -> padded("%02d", (now.getDayOfYear() + 6 - (sunday + 6) % 7) / 7);
      case 'V' -> padded("%02d", now.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR));
      case 'G' -> padded("%04d", now.get(IsoFields.WEEK_BASED_YEAR));
      case 'g' -> padded("%02d", now.get(IsoFields.WEEK_BASED_YEAR) % 100);
      case 's' -> Long.toString(now.toEpochSecond());
      case 'F' -> expanded(now, "%Y-%m-%d");
      case 'D', 'x' -> expanded(now, "%m/%d/%y");
      case 'T', 'X' -> expanded(now, "%H:%M:%S");
      case 'R' -> expanded(now, "%H:%M");
      case 'r' -> expanded(now, "%I:%M:%S %p");
      case 'c' -> expanded(now, "%a %b %e %H:%M:%S %Y");
      case 'n' -> "\n";
      case 't' -> "\t";
      case 'Z', 'z' -> ""; // Python's now() knows no time zone
      case '%' -> "%";
      default -> throw new TemplateException("strftime_now knows no '%%%c'".formatted(directive));
    };
  }

  private static String in(ZonedDateTime now, String pattern) {
    return DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(now);
  }

  private static String padded(String form, int number) {
    return String.format(Locale.ROOT, form, number);
  }
}
