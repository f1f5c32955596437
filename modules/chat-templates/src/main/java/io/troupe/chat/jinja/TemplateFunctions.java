package io.troupe.chat.jinja;

import java.time.Clock;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Functions that every template sees: Jinja's own, and those of chat templates. */
final class TemplateFunctions {
  private TemplateFunctions() {}

  static Map<String, TemplateValue> globals(Clock clock) {
    Map<String, TemplateValue> globals = new HashMap<>();
    add(globals, "range", (a, _) -> range(a));
    add(globals, "namespace", (_, named) -> new TemplateValue.Namespace(new HashMap<>(named)));
    add(globals, "dict", (_, named) -> new TemplateValue.Dict(Map.copyOf(named)));
    add(
        globals,
        "raise_exception",
        (a, _) -> {
          throw new TemplateException(a.isEmpty() ? "it refuses" : a.getFirst().text());
        });
    add(
        globals,
        "strftime_now",
        (a, _) -> new TemplateValue.Text(now(clock, a.isEmpty() ? "" : a.getFirst().text())));
    return globals;
  }

  private static void add(
      Map<String, TemplateValue> globals, String name, TemplateValue.Callable.Body body) {
    globals.put(name, new TemplateValue.Callable(name, body));
  }

  private static TemplateValue range(List<TemplateValue> a) {
    long from = a.size() > 1 ? a.getFirst().integer() : 0;
    long to = a.size() > 1 ? a.get(1).integer() : a.isEmpty() ? 0 : a.getFirst().integer();
    long step = a.size() > 2 ? a.get(2).integer() : 1;
    if (step == 0 || Math.abs((to - from) / step) > 1_000_000) {
      throw new TemplateException("range needs a step, and at most a million of them");
    }
    List<TemplateValue> numbers = new ArrayList<>();
    for (long i = from; step > 0 ? i < to : i > to; i += step) {
      numbers.add(new TemplateValue.Int(i));
    }
    return new TemplateValue.Seq(numbers);
  }

  /** Returns the time in a format of C's strftime. */
  private static String now(Clock clock, String format) {
    ZonedDateTime now = ZonedDateTime.now(clock);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < format.length(); i++) {
      char c = format.charAt(i);
      if (c != '%' || i + 1 == format.length()) {
        text.append(c);
        continue;
      }
      char directive = format.charAt(++i);
      String pattern =
          switch (directive) {
            case 'd' -> "dd";
            case 'm' -> "MM";
            case 'y' -> "yy";
            case 'Y' -> "yyyy";
            case 'b' -> "MMM";
            case 'B' -> "MMMM";
            case 'a' -> "EEE";
            case 'A' -> "EEEE";
            case 'H' -> "HH";
            case 'I' -> "hh";
            case 'M' -> "mm";
            case 'S' -> "ss";
            case 'p' -> "a";
            case 'j' -> "DDD";
            case 'Z' -> "zzz";
            case 'z' -> "xx";
            case '%' -> "%";
            default ->
                throw new TemplateException("strftime_now knows no '%%%c'".formatted(directive));
          };
      text.append(DateTimeFormatter.ofPattern(pattern, Locale.ENGLISH).format(now));
    }
    return text.toString();
  }
}
