package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.parse.AnswerToken.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * Cuts a normalised answer into tokens, in one pass. Spacing and sizing commands vanish, spellings
 * of one command become one ({@code \dfrac}, {@code \tfrac} and {@code \frac}).
 *
 * <p>A plain comma between digits is ambiguous: {@code 1,234} is a number, {@code 100,200} may be
 * two. The caller says which reading it wants; between brackets such a comma always separates.
 */
public final class AnswerTokenizer {
  private static final Set<String> IGNORED =
      Set.of(
          "left",
          "right",
          "big",
          "Big",
          "bigg",
          "Bigg",
          "bigl",
          "bigr",
          "Bigl",
          "Bigr",
          "biggl",
          "biggr",
          "Biggl",
          "Biggr",
          "displaystyle",
          "textstyle",
          "limits",
          "nolimits",
          "quad",
          "qquad",
          "mathnormal",
          "boldsymbol",
          "bm",
          "boxed",
          "fbox",
          "hline",
          "rm",
          "bf",
          "it",
          "mathop",
          "ensuremath",
          "thinspace",
          "space",
          "medspace",
          "middle",
          "strut",
          "null");

  private static final Set<String> TEXT =
      Set.of(
          "text",
          "mbox",
          "textbf",
          "textit",
          "textrm",
          "hbox",
          "textsf",
          "texttt",
          "textnormal",
          "emph");

  /** Upright letters: a unit, a function's name, or a letter like any other. */
  private static final Set<String> UPRIGHT = Set.of("mathrm", "mathbf", "mathit", "mathsf");

  private static final Set<String> MARKS =
      Set.of(
          "overline",
          "vec",
          "hat",
          "bar",
          "widehat",
          "overrightarrow",
          "mathbb",
          "mathcal",
          "tilde",
          "underline");

  private static final Map<String, String> SYNONYMS =
      Map.ofEntries(
          Map.entry("dfrac", "frac"),
          Map.entry("tfrac", "frac"),
          Map.entry("cfrac", "frac"),
          Map.entry("dbinom", "binom"),
          Map.entry("tbinom", "binom"),
          Map.entry("leq", "le"),
          Map.entry("leqslant", "le"),
          Map.entry("leqq", "le"),
          Map.entry("geq", "ge"),
          Map.entry("geqslant", "ge"),
          Map.entry("geqq", "ge"),
          Map.entry("neq", "ne"),
          Map.entry("lnot", "ne"),
          Map.entry("infinity", "infty"),
          Map.entry("inf", "infty"),
          Map.entry("varnothing", "emptyset"),
          Map.entry("cdots", "ldots"),
          Map.entry("dots", "ldots"),
          Map.entry("dotsc", "ldots"),
          Map.entry("dotsb", "ldots"),
          Map.entry("vdots", "ldots"),
          Map.entry("ddots", "ldots"),
          Map.entry("degree", "circ"),
          Map.entry("backslash", "setminus"),
          Map.entry("smallsetminus", "setminus"),
          Map.entry("plusmn", "pm"),
          Map.entry("simeq", "approx"),
          Map.entry("doteq", "approx"));

  private static final Map<String, String> SIGNS =
      Map.ofEntries(
          Map.entry("cdot", "*"),
          Map.entry("times", "*"),
          Map.entry("ast", "*"),
          Map.entry("div", "/"),
          Map.entry("colon", ":"),
          Map.entry("lt", "<"),
          Map.entry("gt", ">"),
          Map.entry("vert", "|"),
          Map.entry("lvert", "|"),
          Map.entry("rvert", "|"),
          Map.entry("langle", "("),
          Map.entry("rangle", ")"),
          Map.entry("lparen", "("),
          Map.entry("rparen", ")"),
          Map.entry("lbrack", "["),
          Map.entry("rbrack", "]"),
          Map.entry("lbrace", "\\{"),
          Map.entry("rbrace", "\\}"),
          Map.entry("newline", "\\\\"),
          Map.entry("cr", "\\\\"));

  private static final Set<String> GREEK =
      Set.of(
          "alpha",
          "beta",
          "gamma",
          "delta",
          "epsilon",
          "varepsilon",
          "zeta",
          "eta",
          "theta",
          "vartheta",
          "iota",
          "kappa",
          "lambda",
          "mu",
          "nu",
          "xi",
          "rho",
          "sigma",
          "tau",
          "upsilon",
          "phi",
          "varphi",
          "chi",
          "psi",
          "omega",
          "Gamma",
          "Delta",
          "Theta",
          "Lambda",
          "Xi",
          "Pi",
          "Sigma",
          "Upsilon",
          "Phi",
          "Psi",
          "Omega",
          "ell");

  /** Plain words that mean what the command of that name means. */
  private static final Set<String> PLAIN =
      Set.of("sqrt", "pi", "infty", "infinity", "inf", "and", "or", "pm", "cup", "cap", "in");

  private final String text;
  private final boolean joinsThousands;
  private final List<AnswerToken> tokens = new ArrayList<>();
  private int at;
  private int depth;
  private boolean spaced;

  private AnswerTokenizer(String text, boolean joinsThousands) {
    this.text = text;
    this.joinsThousands = joinsThousands;
  }

  /**
   * The tokens of a normalised answer.
   *
   * @param joinsThousands whether {@code 1,234} outside of brackets is one number
   */
  static List<AnswerToken> tokens(String text, boolean joinsThousands) {
    return new AnswerTokenizer(text, joinsThousands).run();
  }

  private List<AnswerToken> run() {
    while (at < text.length()) {
      char c = text.charAt(at);
      if (c == ' ' || c == '~' || c == '$') {
        spaced = true;
        at++;
      } else if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
        number();
      } else if (isLetter(c)) {
        word();
      } else if (c == '\\') {
        command();
      } else {
        sign(c);
      }
    }
    return List.copyOf(tokens);
  }

  private void add(Kind kind, String value) {
    tokens.add(new AnswerToken(kind, value, spaced));
    spaced = false;
  }

  private char peek(int ahead) {
    return at + ahead < text.length() ? text.charAt(at + ahead) : '\0';
  }

  private void number() {
    StringBuilder digits = new StringBuilder();
    int first = digits(digits);
    while (first <= 3 && first > 0 && isGroup()) {
      at++;
      digits(digits);
    }
    if (peek(0) == '.' && (isDigit(peek(1)) || repeats(1))) {
      at++;
      digits.append('.');
      digits(digits);
    }
    if (digits.indexOf(".") >= 0 && repeats(0)) {
      at = text.indexOf('{', at) + 1;
      digits.append('(');
      digits(digits);
      digits.append(')');
      at++;
    }
    add(Kind.NUMBER, digits.toString());
  }

  private int digits(StringBuilder into) {
    int start = at;
    while (isDigit(peek(0))) {
      into.append(text.charAt(at++));
    }
    return at - start;
  }

  /** Whether a separator and a group of exactly three digits follow. */
  private boolean isGroup() {
    char separator = peek(0);
    boolean mayJoin =
        separator == AnswerNormaliser.THOUSANDS
            || (separator == ',' && joinsThousands && depth == 0)
            || (separator == ' ' && joinsThousands);
    return mayJoin && isDigit(peek(1)) && isDigit(peek(2)) && isDigit(peek(3)) && !isDigit(peek(4));
  }

  /** Whether {@code \overline{digits}} follows, the period of a repeating decimal. */
  private boolean repeats(int ahead) {
    for (String mark : new String[] {"\\overline{", "\\bar{"}) {
      if (text.startsWith(mark, at + ahead)) {
        int i = at + ahead + mark.length();
        int start = i;
        while (i < text.length() && isDigit(text.charAt(i))) {
          i++;
        }
        return i > start && i < text.length() && text.charAt(i) == '}';
      }
    }
    return false;
  }

  private void word() {
    int start = at;
    while (isLetter(peek(0))) {
      at++;
    }
    word(text.substring(start, at));
  }

  private void word(String run) {
    String lower = run.toLowerCase(Locale.ROOT);
    if (run.length() == 1) {
      add(Kind.LETTER, run);
    } else if (PLAIN.contains(lower) || Operator.function(run).isPresent()) {
      named(PLAIN.contains(lower) ? lower : run);
    } else if (GREEK.contains(run)) {
      add(Kind.LETTER, "\\" + run);
    } else {
      add(Kind.WORD, run);
    }
  }

  private void command() {
    char next = peek(1);
    if (!isLetter(next)) {
      at += 2;
      switch (next) {
        case ' ', ',', ';', ':', '>', '/', '(', ')', '[', ']', '!' -> spaced = true;
        case '{', '}' -> sign("\\" + next);
        case '\\' -> add(Kind.SIGN, "\\\\");
        case '|' -> add(Kind.SIGN, "|");
        case '%', '$', '&' -> add(Kind.SIGN, String.valueOf(next));
        default -> add(Kind.SIGN, "\\" + next);
      }
      return;
    }
    int start = ++at;
    while (isLetter(peek(0))) {
      at++;
    }
    String name = text.substring(start, at);
    if (IGNORED.contains(name)) {
      ignored(name);
    } else if (TEXT.contains(name)) {
      words();
    } else if (UPRIGHT.contains(name)) {
      upright();
    } else if (MARKS.contains(name)) {
      add(Kind.LETTER, "\\" + name + argument().replace(" ", ""));
    } else if (name.equals("operatorname")) {
      named(argument().strip());
    } else if (name.equals("begin") || name.equals("end")) {
      add(Kind.COMMAND, name + ":" + argument().strip());
    } else {
      named(name);
    }
  }

  private void ignored(String name) {
    spaced |= name.endsWith("quad");
    boolean sizes = name.equals("left") || name.equals("right");
    if (sizes && peek(0) == '.') {
      at++;
    }
  }

  private void named(String name) {
    String sign = SIGNS.get(name);
    if (sign != null) {
      sign(sign);
    } else if (GREEK.contains(name)) {
      add(Kind.LETTER, "\\" + name);
    } else {
      add(Kind.COMMAND, SYNONYMS.getOrDefault(name, name));
    }
  }

  /** A word in braces is one word; other content is read as if nothing were around it. */
  private void upright() {
    int start = at;
    String word = argument().replace('~', ' ').strip();
    if (!word.isEmpty() && word.chars().allMatch(c -> isLetter((char) c))) {
      word(word);
    } else {
      at = start;
    }
  }

  /** Reads the inside of {@code \text{…}}: words, a connective, or mathematics after all. */
  private void words() {
    String content = argument();
    String words = content.replaceAll("\\s+", " ").strip().toLowerCase(Locale.ROOT);
    spaced |= content.startsWith(" ");
    if (words.isEmpty()) {
      spaced = true;
    } else if (words.equals("and") || words.equals("or")) {
      add(Kind.COMMAND, words);
    } else if (words.chars().noneMatch(c -> isLetter((char) c) || c == '\\')) {
      for (AnswerToken token : tokens(words, joinsThousands)) {
        tokens.add(token);
      }
    } else {
      add(Kind.TEXT, words);
    }
  }

  /** The text up to the matching brace, or of one character. */
  private String argument() {
    while (peek(0) == ' ') {
      at++;
    }
    if (peek(0) != '{') {
      String one = at < text.length() ? text.substring(at, at + 1) : "";
      at = Math.min(text.length(), at + 1);
      return one;
    }
    int open = 0;
    int start = at + 1;
    while (at < text.length()) {
      char c = text.charAt(at++);
      open += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (open == 0) {
        return text.substring(start, at - 1);
      }
    }
    return text.substring(start);
  }

  private void sign(char c) {
    String two = text.substring(at, Math.min(text.length(), at + 2));
    if (text.startsWith("...", at)) {
      at += 3;
      add(Kind.COMMAND, "ldots");
      return;
    }
    switch (two) {
      case "<=" -> add(Kind.COMMAND, "le");
      case ">=" -> add(Kind.COMMAND, "ge");
      case "!=" -> add(Kind.COMMAND, "ne");
      case "==" -> add(Kind.SIGN, "=");
      case "**" -> add(Kind.SIGN, "^");
      default -> {
        at++;
        sign(c == AnswerNormaliser.THOUSANDS ? "," : String.valueOf(c));
        return;
      }
    }
    at += 2;
  }

  private void sign(String sign) {
    switch (sign) {
      case "(", "[", "{", "\\{" -> depth++;
      case ")", "]", "}", "\\}" -> depth--;
      default -> {}
    }
    add(Kind.SIGN, sign);
  }

  public static boolean isDigit(char c) {
    return c >= '0' && c <= '9';
  }

  public static boolean isLetter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
}
