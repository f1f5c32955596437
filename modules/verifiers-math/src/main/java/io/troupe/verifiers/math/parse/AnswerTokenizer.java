package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.parse.AnswerToken.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

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
          ("left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr displaystyle"
                  + " textstyle scriptstyle limits nolimits quad qquad mathnormal boldsymbol bm pmb"
                  + " boxed fbox hline rm bf it tt sf mathop mathrel mathord ensuremath thinspace"
                  + " space medspace enspace enskip middle strut mathstrut null tiny scriptsize"
                  + " footnotesize small normalsize large Large LARGE huge Huge underline uline"
                  + " underbar mathtt texttt smash mathscr mathfrak scriptscriptstyle nonumber hfill hfil"
                  + " notag centering square blacksquare qed checkmark relax negthinspace")
              .split(" ", -1));

  /** Commands whose argument is not shown, or only gives a size. */
  private static final Set<String> UNSEEN =
      Set.of(
          "hspace", "vspace", "phantom", "hphantom", "vphantom", "label", "tag", "color", "mkern");

  private static final Set<String> TEXT =
      Set.of(
          "text",
          "mbox",
          "textbf",
          "textit",
          "textrm",
          "hbox",
          "textsf",
          "textup",
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
          "dot",
          "ddot",
          "overleftrightarrow",
          "overparen",
          "wideparen");

  /** Marks that are wider only. */
  private static final Map<String, String> ONE_MARK =
      Map.of("overrightarrow", "vec", "widehat", "hat", "wideparen", "overparen");

  /** Marks under which i, j and k are the unit vectors. */
  private static final Set<String> VECTORS =
      Set.of("mathbf", "hat", "vec", "widehat", "overrightarrow", "boldsymbol", "bm", "bold");

  private static final Map<String, String> SYNONYMS =
      Map.ofEntries(
          Map.entry("dfrac", "frac"),
          Map.entry("tfrac", "frac"),
          Map.entry("cfrac", "frac"),
          Map.entry("nicefrac", "frac"),
          Map.entry("sfrac", "frac"),
          Map.entry("flatfrac", "frac"),
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
          Map.entry("land", "and"),
          Map.entry("wedge", "and"),
          Map.entry("lor", "or"),
          Map.entry("vee", "or"),
          Map.entry("bmod", "mod"),
          Map.entry("pmod", "mod"),
          Map.entry("pod", "mod"),
          Map.entry("hdots", "ldots"),
          Map.entry("dotso", "ldots"),
          Map.entry("vartriangle", "triangle"),
          Map.entry("measuredangle", "angle"),
          Map.entry("subseteq", "subset"),
          Map.entry("emptyset", "emptyset"),
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
          "ell",
          "hbar");

  /** Plain words that mean what the command of that name means. */
  private static final Set<String> PLAIN =
      Set.of(
          "sqrt",
          "pi",
          "infty",
          "infinity",
          "inf",
          "and",
          "or",
          "cup",
          "cap",
          "in",
          "mod",
          "union");

  /** Words that join parts of an answer inside of {@code \text}. */
  private static final Set<String> JOINTS =
      Set.of("and", "or", "where", "for", "with", "if", "when", "mod", "to", "such that", "in");

  /** A root or a fraction, with no word of two letters beside it. */
  private static final Pattern FORMULA =
      Pattern.compile(
          "(?=.*\\\\(?:[dt]?frac|sqrt|pi))(?:\\\\[a-zA-Z]+|[a-zA-Z](?![a-zA-Z])|[^a-zA-Z\\\\])+");

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
      } else if (isDigit(c) || (c == '.' && (isDigit(peek(1)) || Repetend.begins(text, at + 1)))) {
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
    if (based()) {
      return;
    }
    StringBuilder digits = new StringBuilder();
    int first = digits(digits);
    boolean points = isPointed();
    for (int gap = group(first); gap > 0 && (points || peek(0) != '.'); gap = group(first)) {
      at += gap;
      digits(digits);
    }
    if (peek(0) == '.' && (isDigit(peek(1)) || Repetend.begins(text, at + 1))) {
      at++;
      digits.append('.');
      digits(digits);
      while (peek(0) == AnswerNormaliser.THOUSANDS && isDigit(peek(1))) {
        at++;
        digits(digits);
      }
    }
    if (digits.indexOf(".") >= 0) {
      Repetend repetend = Repetend.at(text, at, digits.toString());
      at = repetend.end();
      digits = new StringBuilder(repetend.numeral());
    }
    exponent(digits);
    add(Kind.NUMBER, digits.toString());
  }

  /** {@code 0b1101}, {@code 0o17} and {@code 0x2F} as numerals with a subscript. */
  private boolean based() {
    int base =
        peek(0) != '0'
            ? 0
            : switch (peek(1)) {
              case 'b', 'B' -> 2;
              case 'o', 'O' -> 8;
              case 'x', 'X' -> 16;
              default -> 0;
            };
    int end = at + 2;
    while (base > 0 && end < text.length() && Character.digit(text.charAt(end), base) >= 0) {
      end++;
    }
    boolean more = end < text.length() && (isLetter(text.charAt(end)) || isDigit(text.charAt(end)));
    if (base == 0 || end == at + 2 || more) {
      return false;
    }
    add(Kind.BASED, base + ":" + text.substring(at + 2, end));
    at = end;
    return true;
  }

  /** Takes {@code e23} or {@code E-5} behind digits; {@code 2e-3} may also be 2e minus 3. */
  private void exponent(StringBuilder digits) {
    if (peek(0) != 'e' && peek(0) != 'E') {
      return;
    }
    boolean signed = peek(1) == '-' || peek(1) == '+';
    int from = at + (signed ? 2 : 1);
    int end = from;
    while (end < text.length() && isDigit(text.charAt(end))) {
      end++;
    }
    boolean letters =
        end < text.length() && (isLetter(text.charAt(end)) || text.charAt(end) == '^');
    boolean ambiguous = signed && digits.indexOf(".") < 0 && !digits.toString().equals("1");
    if (end > from && end - from <= 4 && !letters && (!ambiguous || joinsThousands)) {
      digits.append('e').append(peek(1) == '-' ? "-" : "").append(text, from, end);
      at = end;
    }
  }

  private int digits(StringBuilder into) {
    int start = at;
    while (isDigit(peek(0))) {
      into.append(text.charAt(at++));
    }
    return at - start;
  }

  /** The length of a separator before a group of exactly three digits; 0 if none follows. */
  private int group(int before) {
    int gap = before < 1 || before > 3 ? 0 : separator();
    boolean three =
        gap > 0 && isDigit(peek(gap)) && isDigit(peek(gap + 1)) && isDigit(peek(gap + 2));
    return three && !isDigit(peek(gap + 3)) ? gap : 0;
  }

  private int separator() {
    return switch (peek(0)) {
      case AnswerNormaliser.THOUSANDS -> 1;
      case ',' -> joinsThousands && depth == 0 ? 1 : 0;
      case ' ', '~', '\'', '_', '.' -> joinsThousands ? 1 : 0;
      case '\\' ->
          switch (peek(1)) {
            case ',', ';', ':', ' ' -> joinsThousands ? 2 : 0;
            default -> 0;
          };
      default -> 0;
    };
  }

  /** Whether two groups or more follow, each behind a point, and no decimals. */
  private boolean isPointed() {
    int i = at;
    int groups = 0;
    while (i + 3 < text.length()
        && text.charAt(i) == '.'
        && AtomParser.isDigits(text.substring(i + 1, i + 4))) {
      groups++;
      i += 4;
    }
    return groups >= 2 && (i >= text.length() || !isDigit(text.charAt(i)));
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
    Optional<Integer> applied = run.length() > 2 ? functionBefore(run) : Optional.empty();
    if (run.length() == 1) {
      add(Kind.LETTER, run + primes());
    } else if (PLAIN.contains(lower) || Operator.function(run).isPresent()) {
      named(PLAIN.contains(lower) ? lower : run);
    } else if (GREEK.contains(run)) {
      add(Kind.LETTER, "\\" + run);
    } else if (applied.isPresent()) {
      named(run.substring(0, applied.get()));
      word(run.substring(applied.get()));
    } else {
      add(Kind.WORD, run);
    }
  }

  /** The primes of a derivative behind a letter: {@code f'}, {@code f^{\prime}}. */
  private String primes() {
    StringBuilder primes = new StringBuilder();
    while (true) {
      if (peek(0) == '\'') {
        primes.append('\'');
        at++;
        continue;
      }
      int length = 0;
      for (String form : new String[] {"^{\\prime}", "^\\prime", "^{\\prime\\prime}"}) {
        length = text.startsWith(form, at) ? form.length() : length;
      }
      if (length == 0) {
        return primes.toString();
      }
      primes.append(length > 10 ? "''" : "'");
      at += length;
    }
  }

  /** The length of a function's name before its argument: {@code sinx}, {@code lnx}. */
  private static Optional<Integer> functionBefore(String run) {
    for (String name : new String[] {"sin", "cos", "tan", "cot", "sec", "csc", "ln", "log"}) {
      String rest = run.startsWith(name) ? run.substring(name.length()) : "";
      if ((rest.length() == 1 && "xyzABC".contains(rest))
          || rest.equals("theta")
          || rest.equals("pi")
          || rest.equals("alpha")
          || rest.equals("beta")) {
        return Optional.of(name.length());
      }
    }
    return Optional.empty();
  }

  private void command() {
    char next = peek(1);
    if (!isLetter(next)) {
      at += 2;
      switch (next) {
        case ' ', ',', ';', ':', '>', '/', '(', ')', '[', ']', '!' -> spaced = true;
        case '{', '}' -> sign("\\" + next);
        case '\\' -> row();
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
    boolean vector = VECTORS.contains(name) && isUnitVector();
    if (vector) {
      add(
          Kind.LETTER,
          "\\vec" + argument().strip().replace("\\", "").replace("math", "").charAt(0));
    } else if (IGNORED.contains(name)) {
      ignored(name);
    } else if (UNSEEN.contains(name)) {
      takeStar();
      argument();
      spaced = true;
    } else if (name.equals("textcolor") || name.equals("colorbox")) {
      argument();
    } else if (TEXT.contains(name)) {
      words();
    } else if (UPRIGHT.contains(name)) {
      upright();
    } else if (name.equals("overline") && isConjugate()) {
      add(Kind.COMMAND, "conjugate");
    } else if (MARKS.contains(name)) {
      mark(name);
    } else if (name.equals("angle") || name.equals("triangle") || name.equals("odot")) {
      figure(name);
    } else if (name.equals("operatorname")) {
      takeStar();
      named(argument().strip());
    } else if (name.equals("begin") || name.equals("end")) {
      add(Kind.COMMAND, name + ":" + argument().strip().replace("*", ""));
    } else if (name.equals("pounds") || name.equals("euro") || name.equals("yen")) {
      add(Kind.TEXT, name.equals("euro") ? "euros" : name);
    } else {
      named(name);
    }
  }

  private void takeStar() {
    at += peek(0) == '*' ? 1 : 0;
  }

  /** A row's end, with the space below it: {@code \\[4pt]}. */
  private void row() {
    add(Kind.SIGN, "\\\\");
    int end = peek(0) == '[' ? text.indexOf(']', at) : -1;
    if (end > 0 && end - at < 10 && isLetter(text.charAt(end - 1))) {
      at = end + 1;
    }
  }

  private boolean isUnitVector() {
    int i = at;
    while (i < text.length() && (text.charAt(i) == '{' || text.charAt(i) == ' ')) {
      i++;
    }
    for (String name : new String[] {"\\imath", "\\jmath", "i", "j", "k"}) {
      int end = i + name.length();
      if (text.startsWith(name, i) && (end >= text.length() || !isLetter(text.charAt(end)))) {
        return i > at;
      }
    }
    return false;
  }

  /** Whether a bar is over a complex number, and so not over the name of a segment. */
  private boolean isConjugate() {
    int open = text.indexOf('{', at);
    int close = text.indexOf('}', at);
    return open == at
        && close > open
        && text.substring(open, close).chars().anyMatch(c -> isDigit((char) c))
        && text.substring(open, close).indexOf('i') > 0;
  }

  /** A segment is what its letters are; other marks make a name of their own. */
  private void mark(String name) {
    String inside = argument().replace(" ", "");
    boolean letters = inside.length() == 2 && inside.chars().allMatch(c -> c >= 'A' && c <= 'Z');
    if (name.equals("overline") && letters) {
      add(Kind.WORD, inside);
    } else if ((name.equals("mathbb") || name.equals("mathbf")) && inside.length() == 1) {
      add(Kind.LETTER, "\\mathbb" + inside);
    } else if (name.equals("overline") && inside.length() == 1) {
      add(Kind.LETTER, "\\bar" + inside);
    } else {
      add(Kind.LETTER, "\\" + ONE_MARK.getOrDefault(name, name) + inside);
    }
  }

  /** {@code \angle ABC} is one name. */
  private void figure(String name) {
    int i = at;
    while (i < text.length() && (text.charAt(i) == ' ' || text.charAt(i) == '{')) {
      i++;
    }
    int end = i;
    while (end < text.length() && isLetter(text.charAt(end))) {
      end++;
    }
    if (end == i) {
      add(Kind.COMMAND, name);
      return;
    }
    boolean braced = text.substring(at, i).contains("{");
    add(Kind.LETTER, "\\" + name + text.substring(i, end));
    at = braced && end < text.length() && text.charAt(end) == '}' ? end + 1 : end;
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

  /** A unit is a unit and a word is one word; other content is read as if it were not upright. */
  private void upright() {
    int start = at;
    String word = argument().replace('~', ' ').strip();
    if (word.length() > 1 && word.chars().allMatch(c -> isLetter((char) c))) {
      word(word);
    } else if (word.equals("C") || word.equals("F")) {
      word(word);
    } else if (!"eidTCPABD".contains(word) && UnitReader.isUnit(word)) {
      add(Kind.TEXT, word);
    } else {
      at = start;
    }
  }

  /** Reads the inside of {@code \text{…}}: words, a connective, or mathematics after all. */
  private void words() {
    String content = argument();
    String words = content.replaceAll("[\\s~]+", " ").strip();
    String lower = words.toLowerCase(Locale.ROOT);
    spaced |= content.startsWith(" ");
    if (words.isEmpty()) {
      spaced = true;
    } else if (JOINTS.contains(lower)) {
      add(Kind.COMMAND, lower);
    } else if (words.equals("\\$") || words.equals("\\%")) {
      add(Kind.SIGN, words.substring(1));
    } else if (isFormula(words)) {
      tokens.addAll(tokens(words.replace("$", ""), joinsThousands));
    } else if (lower.matches("infinity|pi") || isApplied(lower)) {
      named(lower);
    } else if (words.chars().noneMatch(c -> isLetter((char) c) || c == '\\')) {
      tokens.addAll(tokens(words, joinsThousands));
    } else if (words.chars().anyMatch(c -> isDigit((char) c)) && words.indexOf('^') < 0) {
      mixed(words);
    } else {
      noun(words);
    }
  }

  /** Whether a function's name is before its arguments: {@code \text{lcm}(4,6)}. */
  private boolean isApplied(String name) {
    String rest = text.substring(at).stripLeading();
    boolean named = Operator.function(name).isPresent() && !rest.isEmpty();
    return named && "=,;.}$".indexOf(rest.charAt(0)) < 0;
  }

  /** Words, which may end in the one that joins them to what follows: {@code feet and}. */
  private void noun(String words) {
    int last = words.lastIndexOf(' ');
    boolean joins = last > 0 && words.substring(last + 1).equals("and");
    add(Kind.TEXT, joins ? words.substring(0, last) : words);
    if (joins) {
      add(Kind.COMMAND, "and");
    }
  }

  /** Whether the words are commands, signs and lone letters, as in {@code \text{$\frac12$}}. */
  private static boolean isFormula(String words) {
    boolean dollars = words.length() > 2 && words.startsWith("$") && words.endsWith("$");
    return dollars || FORMULA.matcher(words).matches();
  }

  /** Numbers among words: {@code \text{24 apples}}. */
  private void mixed(String words) {
    int start = 0;
    boolean digit = isDigit(words.charAt(0));
    for (int i = 1; i <= words.length(); i++) {
      boolean same =
          i < words.length()
              && (isDigit(words.charAt(i)) == digit
                  || (digit && ".,:".indexOf(words.charAt(i)) >= 0));
      if (same) {
        continue;
      }
      String part = words.substring(start, i);
      spaced |= part.startsWith(" ");
      if (part.chars().noneMatch(c -> isLetter((char) c))) {
        tokens.addAll(tokens(part.strip(), joinsThousands));
      } else if (JOINTS.contains(part.strip())) {
        add(Kind.COMMAND, part.strip());
      } else if (part.strip().length() == 1) {
        add(Kind.LETTER, part.strip());
      } else {
        noun(part.strip());
      }
      start = i;
      digit = i < words.length() && isDigit(words.charAt(i));
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
