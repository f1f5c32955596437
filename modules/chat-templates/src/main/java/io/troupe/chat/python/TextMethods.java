package io.troupe.chat.python;

import io.troupe.base.text.PythonText;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.Predicate;

/** The methods of Python's strings. Places are counted in code points. */
public final class TextMethods {
  /** Methods that Python has and that are not offered here. */
  private static final Set<String> REFUSED =
      Set.of(
          "casefold",
          "encode",
          "format_map",
          "isidentifier",
          "istitle",
          "maketrans",
          "swapcase",
          "translate");

  private static final String SUB = "sub start? end? /";
  private static final Map<String, Method> METHODS = new HashMap<>();

  private record Method(String parameters, Body body) {
    private interface Body {
      TemplateValue call(String text, CallArguments arguments);
    }
  }

  static {
    text("strip", "chars? /", (s, a) -> strip(s, a, true, true));
    text("lstrip", "chars? /", (s, a) -> strip(s, a, true, false));
    text("rstrip", "chars? /", (s, a) -> strip(s, a, false, true));
    text("upper", "", (s, _) -> PythonText.upper(s));
    text("lower", "", (s, _) -> PythonText.lower(s));
    text("title", "", (s, _) -> title(s));
    text("capitalize", "", (s, _) -> capitalized(s));
    text("replace", "old new count? /", TextMethods::replaced);
    text("join", "iterable /", TextMethods::joined);
    text("removeprefix", "prefix /", (s, a) -> PythonText.withoutPrefix(s, a.string("prefix")));
    text("removesuffix", "suffix /", (s, a) -> PythonText.withoutSuffix(s, a.string("suffix")));
    text("center", "width fill? /", (s, a) -> padded(s, a, 0));
    text("ljust", "width fill? /", (s, a) -> padded(s, a, -1));
    text("rjust", "width fill? /", (s, a) -> padded(s, a, 1));
    text("zfill", "width /", (s, a) -> zeroed(s, a.get("width").width()));
    text("expandtabs", "tabsize?", (s, a) -> untabbed(s, a.index("tabsize", 8)));
    list("split", "sep? maxsplit?", (s, a) -> split(s, a, false));
    list("rsplit", "sep? maxsplit?", (s, a) -> split(s, a, true));
    list("splitlines", "keepends?", (s, a) -> PythonText.lines(s, a.flag("keepends")));
    METHODS.put("partition", new Method("sep /", (s, a) -> parted(s, a, false)));
    METHODS.put("rpartition", new Method("sep /", (s, a) -> parted(s, a, true)));
    METHODS.put("find", new Method(SUB, (s, a) -> TemplateValue.Int.of(found(s, a, false))));
    METHODS.put("rfind", new Method(SUB, (s, a) -> TemplateValue.Int.of(found(s, a, true))));
    METHODS.put("index", new Method(SUB, (s, a) -> there(s, a, false)));
    METHODS.put("rindex", new Method(SUB, (s, a) -> there(s, a, true)));
    METHODS.put("count", new Method(SUB, (s, a) -> TemplateValue.Int.of(count(s, a))));
    flag("startswith", "prefix start? end? /", (s, a) -> affixed(s, a, "prefix", true));
    flag("endswith", "suffix start? end? /", (s, a) -> affixed(s, a, "suffix", false));
    flag("isupper", "", (s, _) -> PythonText.isUpper(s));
    flag("islower", "", (s, _) -> PythonText.isLower(s));
    every("isdecimal", PythonText::isDecimal);
    every("isdigit", c -> PythonText.isDecimal(c) || isSuperscript(c));
    every("isalpha", Character::isLetter);
    every("isspace", PythonText::isSpace);
    every("isalnum", PythonText::isAlphanumeric);
    every("isnumeric", c -> PythonText.isAlphanumeric(c) && !Character.isLetter(c));
    flag("isascii", "", (s, _) -> s.chars().allMatch(c -> c < 0x80));
    flag("isprintable", "", (s, _) -> s.codePoints().allMatch(PythonText::isPrintable));
  }

  private TextMethods() {}

  private interface ToText {
    String call(String text, CallArguments arguments);
  }

  private interface ToFlag {
    boolean call(String text, CallArguments arguments);
  }

  private interface ToList {
    List<String> call(String text, CallArguments arguments);
  }

  private static void text(String name, String parameters, ToText body) {
    METHODS.put(name, new Method(parameters, (s, a) -> new TemplateValue.Text(body.call(s, a))));
  }

  private static void flag(String name, String parameters, ToFlag body) {
    METHODS.put(name, new Method(parameters, (s, a) -> TemplateValue.of(body.call(s, a))));
  }

  private static void list(String name, String parameters, ToList body) {
    METHODS.put(name, new Method(parameters, (s, a) -> TemplateValue.of(body.call(s, a))));
  }

  private static void every(String name, IntPredicate test) {
    flag(name, "", (s, _) -> !s.isEmpty() && s.codePoints().allMatch(test));
  }

  static Optional<TemplateValue> of(String text, String name) {
    if (REFUSED.contains(name)) {
      throw new TemplateException("the method '%s' of a text is not supported".formatted(name));
    }
    if (name.equals("format")) {
      return Optional.of(
          new TemplateValue.Callable(
              name,
              (positional, named) ->
                  new TemplateValue.Text(BraceFormat.of(text, positional, named))));
    }
    return Optional.ofNullable(METHODS.get(name))
        .map(
            method ->
                new TemplateValue.Callable(
                    name,
                    (positional, named) ->
                        method.body.call(
                            text, CallArguments.of(name, method.parameters, positional, named))));
  }

  /** Python's strip: removes white space, or the characters of the argument if there is one. */
  public static String strip(String text, CallArguments a, boolean left, boolean right) {
    Optional<String> chars = a.some("chars").map(TemplateValue::string);
    IntPredicate drop =
        chars.<IntPredicate>map(set -> c -> set.indexOf(c) >= 0).orElse(PythonText::isSpace);
    String begun = left ? PythonText.stripStart(text, drop) : text;
    return right ? PythonText.stripEnd(begun, drop) : begun;
  }

  /** {@code str.capitalize}. */
  public static String capitalized(String text) {
    return text.isEmpty() ? text : titled(text, 0) + PythonText.lower(rest(text, 0));
  }

  private static String rest(String text, int from) {
    return text.substring(text.offsetByCodePoints(from, 1));
  }

  /** The first character of a word, in title case. */
  private static String titled(String text, int at) {
    int c = text.codePointAt(at);
    int title = Character.toTitleCase(c);
    String upper = PythonText.upper(Character.toString(c));
    return title != c || upper.codePointCount(0, upper.length()) == 1
        ? Character.toString(title)
        : Character.toString(upper.codePointAt(0)) + PythonText.lower(rest(upper, 0));
  }

  private static String title(String text) {
    StringBuilder title = new StringBuilder();
    int word = -1;
    for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
      int c = text.codePointAt(i);
      boolean cased =
          Character.isUpperCase(c) || Character.isLowerCase(c) || Character.isTitleCase(c);
      if (!cased) {
        word = -1;
        title.appendCodePoint(c);
      } else if (word < 0) {
        word = i;
        title.append(titled(text, i));
      } else {
        // A final sigma is another letter, and only its neighbours show that it is final.
        String lower = PythonText.lower("a" + text.substring(i));
        title.append(c == 'Σ' ? lower.substring(1, 2) : PythonText.lower(Character.toString(c)));
      }
    }
    return title.toString();
  }

  /** {@code str.replace}, of the arguments old, new and count. */
  public static String replaced(String text, CallArguments a) {
    return replaced(
        text,
        a.string("old"),
        a.string("new"),
        a.find("count").map(TemplateValue::index).orElse(-1));
  }

  /** {@code text.replace(old, new, most)}; a negative {@code most} is no bound. */
  public static String replaced(String text, String old, String with, int most) {
    if (most < 0) {
      return old.isEmpty() ? between(text, with, Integer.MAX_VALUE) : text.replace(old, with);
    }
    if (old.isEmpty()) {
      return between(text, with, most);
    }
    StringBuilder replaced = new StringBuilder();
    int from = 0;
    int at = text.indexOf(old);
    for (int i = 0; i < most && at >= 0; i++) {
      replaced.append(text, from, at).append(with);
      from = at + old.length();
      at = text.indexOf(old, from);
    }
    return replaced.append(text.substring(from)).toString();
  }

  private static String between(String text, String with, int most) {
    StringBuilder spread = new StringBuilder();
    int left = most;
    for (int c : text.codePoints().toArray()) {
      spread.append(left-- > 0 ? with : "").appendCodePoint(c);
    }
    return spread.append(left > 0 ? with : "").toString();
  }

  private static String joined(String text, CallArguments a) {
    return String.join(text, a.get("iterable").items().stream().map(TextMethods::part).toList());
  }

  private static String part(TemplateValue value) {
    return value instanceof TemplateValue.Markup(String text) ? text : value.string();
  }

  private static String padded(String text, CallArguments a, int side) {
    String fill = a.find("fill").map(TemplateValue::string).orElse(" ");
    if (PythonText.length(fill) != 1) {
      throw new TemplateException("a text is filled up with one character");
    }
    return padded(text, a.get("width").width(), fill, side);
  }

  /** A text in the middle, or with {@code side} below 0 at the left, above 0 at the right. */
  public static String padded(String text, int width, String fill, int side) {
    int length = PythonText.length(text);
    int missing = Math.max(0, width - length);
    int left = side < 0 ? 0 : side > 0 ? missing : missing / 2 + (missing & width & 1);
    return fill.repeat(left) + text + fill.repeat(missing - left);
  }

  private static String zeroed(String text, int width) {
    boolean signed = text.startsWith("-") || text.startsWith("+");
    String sign = signed ? text.substring(0, 1) : "";
    String bare = text.substring(sign.length());
    return sign + padded(bare, width - sign.length(), "0", 1);
  }

  private static String untabbed(String text, int width) {
    StringBuilder spaced = new StringBuilder();
    int column = 0;
    for (int c : text.codePoints().toArray()) {
      if (c == '\t') {
        int blanks = width > 0 ? width - column % width : 0;
        spaced.repeat(' ', blanks);
        column += blanks;
      } else {
        spaced.appendCodePoint(c);
        column = c == '\n' || c == '\r' ? 0 : column + 1;
      }
    }
    return spaced.toString();
  }

  private static List<String> split(String text, CallArguments a, boolean fromEnd) {
    int most = a.index("maxsplit", -1);
    Optional<String> separator = a.some("sep").map(TemplateValue::string);
    if (separator.isEmpty()) {
      return fromEnd ? wordsFromEnd(text, most) : words(text, most);
    }
    if (separator.get().isEmpty()) {
      throw new TemplateException("split needs a separator that is not empty");
    }
    List<String> parts = PythonText.split(text, separator.get());
    int kept = parts.size() - 1;
    if (most < 0 || most >= kept) {
      return parts;
    }
    List<String> few = new ArrayList<>();
    int cut = fromEnd ? kept - most : most;
    List<String> ends = fromEnd ? parts.subList(cut + 1, parts.size()) : parts.subList(0, cut);
    String rest =
        String.join(
            separator.get(),
            fromEnd ? parts.subList(0, cut + 1) : parts.subList(cut, parts.size()));
    if (fromEnd) {
      few.add(rest);
    }
    few.addAll(ends);
    if (!fromEnd) {
      few.add(rest);
    }
    return few;
  }

  private static List<String> words(String text, int most) {
    List<String> words = new ArrayList<>();
    String left = PythonText.stripStart(text, PythonText::isSpace);
    while (!left.isEmpty()) {
      if (words.size() == most) {
        words.add(PythonText.stripEnd(left));
        break;
      }
      String word = PythonText.split(left).getFirst();
      words.add(word);
      left = PythonText.stripStart(left.substring(word.length()), PythonText::isSpace);
    }
    return words;
  }

  private static List<String> wordsFromEnd(String text, int most) {
    List<String> words = new ArrayList<>();
    String left = PythonText.stripEnd(text);
    while (!left.isEmpty()) {
      if (words.size() == most) {
        words.addFirst(PythonText.stripStart(left, PythonText::isSpace));
        break;
      }
      String word = PythonText.split(left).getLast();
      words.addFirst(word);
      left = PythonText.stripEnd(left.substring(0, left.length() - word.length()));
    }
    return words;
  }

  private static TemplateValue parted(String text, CallArguments a, boolean last) {
    String separator = a.string("sep");
    if (separator.isEmpty()) {
      throw new TemplateException("partition needs a separator that is not empty");
    }
    int at = last ? text.lastIndexOf(separator) : text.indexOf(separator);
    List<String> three =
        at >= 0
            ? List.of(text.substring(0, at), separator, text.substring(at + separator.length()))
            : last ? List.of("", "", text) : List.of(text, "", "");
    return new TemplateValue.Tuple(
        three.stream().map(part -> (TemplateValue) new TemplateValue.Text(part)).toList());
  }

  /** The place of the first or last occurrence; -1 if there is none. */
  private static int found(String text, CallArguments a, boolean last) {
    int size = PythonText.length(text);
    String sub = a.string("sub");
    int from = PythonAccess.clamped(a.some("start").orElse(TemplateValue.None.NONE), 0, size);
    int to = PythonAccess.clamped(a.some("end").orElse(TemplateValue.None.NONE), size, size);
    boolean outside = a.some("start").filter(start -> start.index() > size).isPresent();
    if (outside || from > to) {
      return -1;
    }
    String part = PythonText.slice(text, from, to);
    int at = last ? part.lastIndexOf(sub) : part.indexOf(sub);
    return at < 0 ? -1 : from + part.codePointCount(0, at);
  }

  private static TemplateValue there(String text, CallArguments a, boolean last) {
    int at = found(text, a, last);
    if (at < 0) {
      throw new TemplateException("%s is not in the text".formatted(a.get("sub").shortened()));
    }
    return TemplateValue.Int.of(at);
  }

  private static int count(String text, CallArguments a) {
    String sub = a.string("sub");
    int size = PythonText.length(text);
    boolean outside = a.some("start").filter(start -> start.index() > size).isPresent();
    int from = PythonAccess.clamped(a.some("start").orElse(TemplateValue.None.NONE), 0, size);
    int to = PythonAccess.clamped(a.some("end").orElse(TemplateValue.None.NONE), size, size);
    if (outside || from > to) {
      return 0;
    }
    String part = PythonText.slice(text, from, to);
    return sub.isEmpty() ? PythonText.length(part) + 1 : PythonText.count(part, sub);
  }

  private static boolean affixed(String text, CallArguments a, String name, boolean start) {
    int size = PythonText.length(text);
    boolean outside = a.some("start").filter(from -> from.index() > size).isPresent();
    int from = PythonAccess.clamped(a.some("start").orElse(TemplateValue.None.NONE), 0, size);
    int to = PythonAccess.clamped(a.some("end").orElse(TemplateValue.None.NONE), size, size);
    if (outside || from > to) {
      return false;
    }
    String part = PythonText.slice(text, from, to);
    Predicate<String> test = start ? part::startsWith : part::endsWith;
    return a.get(name) instanceof TemplateValue.Tuple(var options)
        ? options.stream().map(TemplateValue::string).anyMatch(test)
        : test.test(a.string(name));
  }

  @SuppressWarnings("CharacterGetNumericValue") // A superscript is no decimal digit.
  private static boolean isSuperscript(int c) {
    return Character.getType(c) == Character.OTHER_NUMBER
        && Character.getNumericValue(c) >= 0
        && Character.getNumericValue(c) < 10
        && !Character.getName(c).contains("NUMBER")
        && !Character.getName(c).contains("FRACTION");
  }
}
