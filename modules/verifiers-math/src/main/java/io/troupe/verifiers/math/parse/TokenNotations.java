package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.expr.NumberWords;
import io.troupe.verifiers.math.expr.Rational;
import io.troupe.verifiers.math.parse.AnswerToken.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Numbers, ratios and domains in words, as the tokens that say the same in signs. */
final class TokenNotations {
  private static final int MOST_WORDS = 8;

  private static final Pattern INTEGER =
      Pattern.compile("(?:where |for |with )?(?:([a-z]) )?(?:is |be )?(?:an?|any|some)? ?integer");

  private static final Pattern FOR_INTEGER =
      Pattern.compile(
          "(?:where |for |with )(?:an? |any |some |all |every |each )?integers? ?([a-z])?");

  private final List<AnswerToken> in;
  private final List<AnswerToken> out = new ArrayList<>();

  private TokenNotations(List<AnswerToken> in) {
    this.in = in;
  }

  static List<AnswerToken> rewritten(List<AnswerToken> tokens) {
    boolean plain =
        tokens.stream()
            .noneMatch(
                token ->
                    token.kind() == Kind.WORD
                        || token.kind() == Kind.TEXT
                        || token.kind() == Kind.COMMAND);
    return plain ? tokens : new TokenNotations(tokens).run();
  }

  private List<AnswerToken> run() {
    int at = 0;
    while (at < in.size()) {
      int next = step(at);
      if (next == at) {
        out.add(in.get(at++));
      }
      at = Math.max(at, next);
    }
    return List.copyOf(out);
  }

  private int step(int at) {
    AnswerToken token = in.get(at);
    return switch (token.kind()) {
      case WORD, TEXT -> words(at);
      case COMMAND -> command(at);
      case SIGN -> bracket(at);
      case LETTER ->
          in.get(at).text().equals("a") && isWord(at + 1) ? number(at) : differential(at);
      default -> at;
    };
  }

  private int command(int at) {
    AnswerToken token = in.get(at);
    if (token.text().equals("to") && isNumber(at - 1) && isNumber(at + 1)) {
      return sign(":", at + 1);
    }
    return switch (token.text()) {
      case "where", "for", "with", "if", "when" -> sign(",", at + 1);
      case "union" -> {
        out.add(new AnswerToken(Kind.COMMAND, "cup", true));
        yield at + 1;
      }
      default -> at;
    };
  }

  private int sign(String text, int next) {
    out.add(new AnswerToken(Kind.SIGN, text, false));
    return next;
  }

  private boolean isNumber(int at) {
    return at >= 0 && at < in.size() && in.get(at).kind() == Kind.NUMBER;
  }

  /** A domain or a modulus in round brackets is itself: {@code (k \in \mathbb{Z})}. */
  private int bracket(int at) {
    if (!in.get(at).isSign("(") || at + 2 >= in.size()) {
      return at;
    }
    boolean modulus = in.get(at + 1).isCommand("mod");
    boolean domain =
        at > 0 && in.get(at + 1).kind() == Kind.LETTER && in.get(at + 2).isCommand("in");
    int close = at;
    while (close < in.size() && !in.get(close).isSign(")")) {
      close++;
    }
    if ((!modulus && !domain) || close + 1 != in.size()) {
      return at;
    }
    if (domain && !out.getLast().isSign(",")) {
      sign(",", at);
    }
    out.addAll(in.subList(at + 1, close));
    return close + 1;
  }

  /** In an integral {@code dx} ends the integrand. */
  private int differential(int at) {
    boolean integral = in.stream().anyMatch(token -> token.isCommand("int"));
    boolean pair =
        integral
            && in.get(at).text().equals("d")
            && at + 1 < in.size()
            && in.get(at + 1).kind() == Kind.LETTER;
    if (pair) {
      out.add(new AnswerToken(Kind.COMMAND, "d:" + in.get(at + 1).text(), true));
      return at + 2;
    }
    return at;
  }

  private int words(int at) {
    AnswerToken token = in.get(at);
    String text = token.text();
    boolean integral = in.stream().anyMatch(one -> one.isCommand("int"));
    int d = text.length() - 2;
    if (integral && token.kind() == Kind.WORD && d >= 0 && d <= 1 && text.charAt(d) == 'd') {
      if (d == 1) {
        out.add(new AnswerToken(Kind.LETTER, text.substring(0, 1), false));
      }
      out.add(new AnswerToken(Kind.COMMAND, "d:" + text.substring(d + 1), true));
      return at + 1;
    }
    String lower = text.toLowerCase(Locale.ROOT);
    if (isNumber(at - 1) && lower.equals("to") && isNumber(at + 1)) {
      return sign(":", at + 1);
    }
    if (lower.matches("(negative|minus)") && isNumber(at + 1)) {
      return sign("-", at + 1);
    }
    int domain = domain(at, lower);
    return domain > at ? domain : number(at);
  }

  private int domain(int at, String lower) {
    Matcher integer = INTEGER.matcher(lower);
    Matcher anyInteger = FOR_INTEGER.matcher(lower);
    boolean matches = integer.matches();
    if (!matches && !anyInteger.matches()) {
      return at;
    }
    String name = matches ? integer.group(1) : anyInteger.group(1);
    boolean before = !out.isEmpty() && out.getLast().kind() == Kind.LETTER;
    boolean behind = at + 1 < in.size() && in.get(at + 1).kind() == Kind.LETTER;
    if (name != null) {
      sign(",", at);
      out.add(new AnswerToken(Kind.LETTER, name, true));
    } else if (!matches && behind) {
      sign(",", at);
      out.add(in.get(at + 1));
    } else if (!matches || !before) {
      return at;
    }
    out.add(new AnswerToken(Kind.COMMAND, "in", true));
    out.add(new AnswerToken(Kind.LETTER, "\\mathbbZ", true));
    return name == null && !matches ? at + 2 : at + 1;
  }

  /** The longest run of words that is a number, or a scale behind digits. */
  private int number(int at) {
    List<String> words = new ArrayList<>();
    List<Integer> tokenOf = new ArrayList<>();
    for (int i = at; i < in.size() && words.size() < MOST_WORDS; i++) {
      AnswerToken token = in.get(i);
      boolean and = token.isCommand("and");
      boolean article = token.is(Kind.LETTER, "a");
      if (!isWord(i) && !and && !hyphen(i) && !article) {
        break;
      }
      for (String word : hyphen(i) ? new String[0] : token.text().split("[ ,-]+", -1)) {
        if (!word.isEmpty()) {
          words.add(word);
          tokenOf.add(i);
        }
      }
    }
    if (words.isEmpty()) {
      return at;
    }
    boolean whole = at == 0 && tokenOf.getLast() + 1 == in.size();
    Optional<Long> ordinal =
        whole ? NumberWords.ordinal(String.join(" ", words)) : Optional.empty();
    if (ordinal.isPresent()) {
      out.add(new AnswerToken(Kind.NUMBER, Long.toString(ordinal.get()), false));
      out.add(new AnswerToken(Kind.TEXT, "th", false));
      return in.size();
    }
    Optional<Long> scale = isNumber(at - 1) ? NumberWords.scale(words.get(0)) : Optional.empty();
    if (scale.isPresent()) {
      AnswerToken digits = out.removeLast();
      sign("(", at);
      out.add(digits);
      sign("*", at);
      out.add(new AnswerToken(Kind.NUMBER, Long.toString(scale.get()), false));
      sign(")", at);
      return rest(words, 1, tokenOf);
    }
    boolean alone = out.size() == 1 && isNumber(at - 1) && words.size() == 1;
    if (alone && tokenOf.get(0) + 1 == in.size()) {
      Optional<Long> parts = NumberWords.denominator(words.get(0));
      if (parts.isPresent()) {
        sign("/", at);
        out.add(new AnswerToken(Kind.NUMBER, Long.toString(parts.get()), false));
        return at + 1;
      }
    }
    boolean factor = !out.isEmpty() && (isNumber(at - 1) || out.getLast().kind() == Kind.LETTER);
    for (int count = factor ? 0 : words.size(); count > 0; count--) {
      Optional<Rational> value = NumberWords.of(String.join(" ", words.subList(0, count)));
      boolean noun = count < words.size() && !words.get(count).equals("and");
      if (value.isPresent() && (count == words.size() || noun)) {
        value(value.get());
        return rest(words, count, tokenOf);
      }
    }
    return at;
  }

  private boolean isWord(int at) {
    return at < in.size() && (in.get(at).kind() == Kind.WORD || in.get(at).kind() == Kind.TEXT);
  }

  private boolean hyphen(int at) {
    return in.get(at).isSign("-")
        && at > 0
        && in.get(at - 1).kind() == Kind.WORD
        && at + 1 < in.size()
        && in.get(at + 1).kind() == Kind.WORD;
  }

  private void value(Rational value) {
    if (value.signum() < 0) {
      sign("-", 0);
    }
    Rational size = value.abs();
    boolean fraction = !size.isInteger();
    if (fraction) {
      sign("(", 0);
    }
    out.add(new AnswerToken(Kind.NUMBER, size.numerator().toString(), true));
    if (fraction) {
      sign("/", 0);
      out.add(new AnswerToken(Kind.NUMBER, size.denominator().toString(), false));
      sign(")", 0);
    }
  }

  /** Keeps the words of the last token that were not used. */
  private int rest(List<String> words, int used, List<Integer> tokenOf) {
    int last = tokenOf.get(used - 1);
    StringBuilder left = new StringBuilder();
    for (int i = used; i < words.size() && tokenOf.get(i) == last; i++) {
      left.append(left.isEmpty() ? "" : " ").append(words.get(i));
    }
    if (!left.isEmpty()) {
      out.add(new AnswerToken(Kind.TEXT, left.toString(), true));
    }
    return last + 1;
  }
}
