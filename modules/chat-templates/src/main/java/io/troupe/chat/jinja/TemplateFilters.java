package io.troupe.chat.jinja;

import io.troupe.base.text.PythonText;
import io.troupe.chat.python.CallArguments;
import io.troupe.chat.python.NumberText;
import io.troupe.chat.python.PercentFormat;
import io.troupe.chat.python.PythonDumps;
import io.troupe.chat.python.PythonOperators;
import io.troupe.chat.python.TemplateException;
import io.troupe.chat.python.TemplateValue;
import io.troupe.chat.python.TextMethods;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The filters that {@code |} applies. */
final class TemplateFilters {
  private static final Map<String, Filter> FILTERS = new HashMap<>();

  private record Filter(String parameters, Body body) {
    private interface Body {
      TemplateValue apply(TemplateValue of, CallArguments arguments);
    }
  }

  private interface ToText {
    String apply(TemplateValue of, CallArguments arguments);
  }

  static {
    add("length", "", (of, _) -> TemplateValue.Int.of(of.length()));
    add("abs", "", (of, _) -> absolute(of));
    add("int", "default? base?", TemplateFilters::whole);
    add("float", "default?", TemplateFilters::real);
    add("round", "precision? method?", TemplateFilters::rounded);
    add("default", "default_value? boolean?", TemplateFilters::orDefault);
    add("items", "", (of, _) -> SequenceFilters.items(of));
    add("safe", "", (of, _) -> new TemplateValue.Markup(of.text()));
    add("escape", "", (of, _) -> of instanceof TemplateValue.Markup ? of : escaped(of));
    add("forceescape", "", (of, _) -> escaped(of));
    text("trim", "chars?", (of, a) -> TextMethods.strip(of.text(), a, true, true));
    text("upper", "", (of, _) -> PythonText.upper(of.text()));
    text("lower", "", (of, _) -> PythonText.lower(of.text()));
    text("capitalize", "", (of, _) -> TextMethods.capitalized(of.text()));
    text("title", "", (of, _) -> title(of.text()));
    text("string", "", (of, _) -> of.text());
    text("join", "d? attribute?", SequenceFilters::joined);
    text("replace", "old new count?", TemplateFilters::replaced);
    text("center", "width?", TemplateFilters::centered);
    text("indent", "width? first? blank?", TemplateFilters::indented);
    text("tojson", "ensure_ascii? indent? separators? sort_keys?", PythonDumps::text);
    add("wordcount", "", (of, _) -> TemplateValue.Int.of(PythonText.words(of.text()).size()));
    add("list", "", (of, _) -> new TemplateValue.Seq(of.items()));
    add("first", "", (of, _) -> SequenceFilters.first(of));
    add("last", "", (of, _) -> SequenceFilters.last(of));
    add("reverse", "", (of, _) -> SequenceFilters.reversed(of));
    add("sort", "reverse? case_sensitive? attribute?", SequenceFilters::sorted);
    add("dictsort", "case_sensitive? by? reverse?", SequenceFilters::dictSorted);
    add("unique", "case_sensitive? attribute?", SequenceFilters::unique);
    add("min", "case_sensitive? attribute?", (of, a) -> SequenceFilters.extreme(of, a, -1));
    add("max", "case_sensitive? attribute?", (of, a) -> SequenceFilters.extreme(of, a, 1));
    add("sum", "attribute? start?", SequenceFilters::sum);
    add("batch", "linecount fill_with?", SequenceFilters::batched);
    add("slice", "slices fill_with?", SequenceFilters::sliced);
    FILTERS.put("count", FILTERS.get("length"));
    FILTERS.put("d", FILTERS.get("default"));
    FILTERS.put("e", FILTERS.get("escape"));
  }

  private TemplateFilters() {}

  private static void add(String name, String parameters, Filter.Body body) {
    FILTERS.put(name, new Filter(parameters, body));
  }

  private static void text(String name, String parameters, ToText body) {
    add(name, parameters, (of, a) -> new TemplateValue.Text(body.apply(of, a)));
  }

  static TemplateValue apply(
      String name,
      TemplateValue of,
      List<TemplateValue> positional,
      Map<String, TemplateValue> named) {
    return switch (name) {
      case "map" -> SequenceFilters.mapped(of, positional, named);
      case "select" -> SequenceFilters.chosen(of, positional, named, false, true);
      case "reject" -> SequenceFilters.chosen(of, positional, named, false, false);
      case "selectattr" -> SequenceFilters.chosen(of, positional, named, true, true);
      case "rejectattr" -> SequenceFilters.chosen(of, positional, named, true, false);
      case "format" -> formatted(of, positional, named);
      default -> {
        Filter filter = FILTERS.get(name);
        if (filter == null) {
          throw new TemplateException("there is no filter '%s'".formatted(name));
        }
        yield filter.body.apply(of, CallArguments.of(name, filter.parameters, positional, named));
      }
    };
  }

  private static TemplateValue formatted(
      TemplateValue of, List<TemplateValue> positional, Map<String, TemplateValue> named) {
    if (!positional.isEmpty() && !named.isEmpty()) {
      throw new TemplateException("'format' takes values by position or by name, not both");
    }
    Map<TemplateValue, TemplateValue> entries = new HashMap<>();
    named.forEach((name, value) -> entries.put(new TemplateValue.Text(name), value));
    TemplateValue values =
        named.isEmpty() ? new TemplateValue.Tuple(positional) : new TemplateValue.Dict(entries);
    return new TemplateValue.Text(PercentFormat.of(of.text(), values));
  }

  private static TemplateValue absolute(TemplateValue of) {
    return of instanceof TemplateValue.Real(double x)
        ? new TemplateValue.Real(Math.abs(x))
        : new TemplateValue.Int(of.whole().abs());
  }

  private static TemplateValue whole(TemplateValue of, CallArguments a) {
    TemplateValue otherwise = a.find("default").orElse(TemplateValue.Int.of(0));
    return switch (of) {
      case TemplateValue.Undefined(String what) ->
          throw new TemplateException("'%s' is undefined and no number".formatted(what));
      case TemplateValue.Int _, TemplateValue.Bool _ -> new TemplateValue.Int(of.whole());
      case TemplateValue.Real(double number) -> {
        if (Double.isInfinite(number)) {
          throw new TemplateException("'int' takes no infinity");
        }
        yield Double.isNaN(number)
            ? otherwise
            : new TemplateValue.Int(NumberText.truncated(number));
      }
      case TemplateValue.Text(String text) -> {
        Optional<BigInteger> whole = NumberText.whole(text, a.index("base", 10));
        yield whole
            .or(() -> NumberText.real(text).filter(Double::isFinite).map(NumberText::truncated))
            .<TemplateValue>map(TemplateValue.Int::new)
            .orElse(otherwise);
      }
      default -> otherwise;
    };
  }

  private static TemplateValue real(TemplateValue of, CallArguments a) {
    TemplateValue otherwise = a.find("default").orElse(new TemplateValue.Real(0));
    return switch (of) {
      case TemplateValue.Undefined(String what) ->
          throw new TemplateException("'%s' is undefined and no number".formatted(what));
      case TemplateValue.Text(String text) ->
          NumberText.real(text).<TemplateValue>map(TemplateValue.Real::new).orElse(otherwise);
      default -> of.isNumber() ? new TemplateValue.Real(of.number()) : otherwise;
    };
  }

  private static TemplateValue rounded(TemplateValue of, CallArguments a) {
    int places = a.index("precision", 0);
    String method = a.find("method").map(TemplateValue::text).orElse("common");
    if (method.equals("common")) {
      return NumberText.rounded(of, places);
    }
    if (!method.equals("ceil") && !method.equals("floor")) {
      throw new TemplateException(
          "the method is common, ceil or floor, not '%s'".formatted(method));
    }
    TemplateValue power =
        PythonOperators.apply("**", TemplateValue.Int.of(10), TemplateValue.Int.of(places));
    double scaled = PythonOperators.apply("*", of, power).number();
    double whole = method.equals("ceil") ? Math.ceil(scaled) : Math.floor(scaled);
    return PythonOperators.apply("/", new TemplateValue.Int(NumberText.truncated(whole)), power);
  }

  private static TemplateValue orDefault(TemplateValue of, CallArguments a) {
    boolean missing = of instanceof TemplateValue.Undefined || (a.flag("boolean") && !of.truth());
    return missing ? a.find("default_value").orElse(new TemplateValue.Text("")) : of;
  }

  private static TemplateValue escaped(TemplateValue of) {
    return new TemplateValue.Markup(
        of.text()
            .replace("&", "&amp;")
            .replace("<", "&lt;")
            .replace(">", "&gt;")
            .replace("'", "&#39;")
            .replace("\"", "&#34;"));
  }

  private static String replaced(TemplateValue of, CallArguments a) {
    int most = a.some("count").map(TemplateValue::index).orElse(-1);
    return TextMethods.replaced(of.text(), a.get("old").text(), a.get("new").text(), most);
  }

  /** Jinja's title: a word begins behind a blank, a dash or an opening bracket. */
  private static String title(String text) {
    StringBuilder title = new StringBuilder();
    boolean begins = true;
    int from = 0;
    for (int i = 0; i <= text.length(); i++) {
      boolean between =
          i == text.length()
              || PythonText.isSpace(text.charAt(i))
              || "-({[<".indexOf(text.charAt(i)) >= 0;
      if (between && !begins) {
        title.append(word(text.substring(from, i)));
        begins = true;
      } else if (!between && begins) {
        from = i;
        begins = false;
      }
      if (between && i < text.length()) {
        title.append(text.charAt(i));
      }
    }
    return title.toString();
  }

  private static String word(String word) {
    int first = word.offsetByCodePoints(0, 1);
    return PythonText.upper(word.substring(0, first)) + PythonText.lower(word.substring(first));
  }

  private static String centered(TemplateValue of, CallArguments a) {
    int width = a.find("width").map(TemplateValue::width).orElse(80);
    return TextMethods.padded(of.text(), width, " ", 0);
  }

  private static String indented(TemplateValue of, CallArguments a) {
    TemplateValue width = a.find("width").orElse(TemplateValue.Int.of(4));
    String space =
        width instanceof TemplateValue.Text(String given)
            ? given
            : " ".repeat(Math.max(0, width.width()));
    List<String> lines = new ArrayList<>(PythonText.lines(of.string() + "\n", false));
    for (int i = 1; i < lines.size(); i++) {
      if (a.flag("blank") || !lines.get(i).isEmpty()) {
        lines.set(i, space + lines.get(i));
      }
    }
    return (a.flag("first") ? space : "") + String.join("\n", lines);
  }
}
