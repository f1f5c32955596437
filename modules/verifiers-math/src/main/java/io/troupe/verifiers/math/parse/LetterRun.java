package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.parse.AnswerToken.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Letters, or letters and digits, that are all of an answer or of one of its parts. A product looks
 * like that, and so do words, sequences, roman numerals and the labels of a board.
 *
 * <p>A digit never follows the letter that it is multiplied with, so that {@code A1} is a label,
 * and {@code 1A} a product.
 */
final class LetterRun {
  private static final int MOST_TOKENS = 12;

  private final AnswerTokenReader in;

  LetterRun(AnswerTokenReader in) {
    this.in = in;
  }

  /** Whether a long word can only be a product: {@code abcd}, {@code wxyz}. */
  static boolean isProduct(String word) {
    boolean ordered = true;
    for (int i = 1; i < word.length(); i++) {
      ordered &= word.charAt(i) == word.charAt(i - 1) + 1;
    }
    return ordered && word.length() <= 6;
  }

  /** Whether a short word is no product of its letters. */
  static boolean isDenial(String word) {
    return word.equalsIgnoreCase("not");
  }

  /** Whether a long word is letters in a row: a product, or a sequence in capitals. */
  private static boolean isLetters(String word) {
    return isProduct(word) || word.chars().allMatch(c -> c >= 'A' && c <= 'Z');
  }

  /** Takes the run, if it is followed by nothing that would make it a factor or a name. */
  Optional<Expr> read() {
    int length = 0;
    boolean label = false;
    boolean digits = false;
    boolean word = false;
    StringBuilder run = new StringBuilder();
    while (length < MOST_TOKENS && isPart(in.peek(length))) {
      AnswerToken token = in.peek(length);
      boolean number = token.kind() == Kind.NUMBER;
      label |= number && length > 0 && in.peek(length - 1).kind() != Kind.NUMBER && !token.spaced();
      digits |= number;
      word |= token.kind() == Kind.WORD && token.text().length() > 3 && !isLetters(token.text());
      run.append(word && token.spaced() && length > 0 ? " " : "").append(token.text());
      length++;
    }
    AnswerToken behind = in.peek(length);
    if (run.length() < 2 || length == MOST_TOKENS || !ends(behind)) {
      return Optional.empty();
    }
    if (word && behind.isSign("=") && !digits) {
      return Optional.of(words(length, run.toString()));
    }
    if (word || (digits && !label)) {
      return Optional.empty();
    }
    if (label) {
      return Optional.of(words(length, run.toString()));
    }
    boolean letters = run.chars().allMatch(c -> c < 128 && Character.isLetter(c));
    return letters ? Optional.of(letters(length, run.toString())) : Optional.empty();
  }

  private static boolean isPart(AnswerToken token) {
    return switch (token.kind()) {
      case LETTER -> token.text().length() == 1;
      case WORD -> !isDenial(token.text());
      case NUMBER -> AtomParser.isDigits(token.text());
      default -> false;
    };
  }

  private static boolean ends(AnswerToken token) {
    return switch (token.kind()) {
      case END, UNIT -> true;
      case SIGN ->
          (!token.text().isEmpty() && ",;)]}&<>=:".contains(token.text()))
              || token.text().length() == 2;
      case COMMAND ->
          List.of("and", "or", "in", "parallel", "perp", "cong", "sim", "le", "ge", "ne", "approx")
              .contains(token.text());
      default -> false;
    };
  }

  private Expr words(int length, String run) {
    skip(length);
    return new Expr.Words(ParsedAnswer.plainWords(run));
  }

  private Expr letters(int length, String run) {
    skip(length);
    List<Expr> factors = new ArrayList<>();
    run.chars().forEach(c -> factors.add(AnswerParser.single(Character.toString(c))));
    return new Expr.Letters(run, new Call(Operator.MULTIPLY, factors));
  }

  private void skip(int length) {
    for (int i = 0; i < length; i++) {
      in.next();
    }
  }
}
