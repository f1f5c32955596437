package io.troupe.chat.python;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Python's {@code text.format(…)}. */
final class BraceFormat {
  private static final Pattern FIELD =
      Pattern.compile(
          "\\{\\{|\\}\\}|\\{([^{}!:.\\[]*)((?:\\.[^{}!:.\\[]+|\\[[^\\]{}]+\\])*)(?:!([rs]))?(?::([^{}]*))?\\}"
              + "|[{}]");
  private static final Pattern STEP = Pattern.compile("\\.([^.\\[]+)|\\[([^\\]]+)\\]");

  private BraceFormat() {}

  static String of(
      String format, List<TemplateValue> positional, Map<String, TemplateValue> named) {
    StringBuilder text = new StringBuilder();
    Matcher field = FIELD.matcher(format);
    int at = 0;
    int next = 0;
    boolean numbered = false;
    while (field.find()) {
      text.append(format, at, field.start());
      at = field.end();
      String found = field.group();
      if (found.equals("{{") || found.equals("}}")) {
        text.append(found.charAt(0));
        continue;
      }
      if (found.length() == 1) {
        throw new TemplateException("'%s' is not supported as a format".formatted(format));
      }
      String name = field.group(1);
      TemplateValue value;
      if (name.isEmpty() || name.matches("\\d{1,4}")) {
        if (name.isEmpty() ? numbered : next > 0) {
          throw new TemplateException("a format numbers all of its fields, or none");
        }
        numbered |= !name.isEmpty();
        int index = name.isEmpty() ? next++ : Integer.parseInt(name);
        if (index >= positional.size()) {
          throw new TemplateException("a format takes more values than it is given");
        }
        value = positional.get(index);
      } else {
        value = named.get(name);
        if (value == null) {
          throw new TemplateException("a format finds no value '%s'".formatted(name));
        }
      }
      Matcher step = STEP.matcher(field.group(2));
      while (step.find()) {
        value =
            step.group(1) != null
                ? PythonAccess.attribute(value, step.group(1))
                : PythonAccess.item(value, key(step.group(2)));
      }
      if (field.group(3) != null) {
        value = new TemplateValue.Text(field.group(3).equals("r") ? value.repr() : value.text());
      }
      text.append(FormatSpec.of(field.group(4) == null ? "" : field.group(4)).format(value));
    }
    return text.append(format.substring(at)).toString();
  }

  private static TemplateValue key(String text) {
    return text.matches("\\d{1,9}")
        ? TemplateValue.Int.of(Long.parseLong(text))
        : new TemplateValue.Text(text);
  }
}
