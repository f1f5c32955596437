package io.troupe.verifiers.math;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.math.compare.AnswerComparison;
import io.troupe.verifiers.math.compare.AnswerEquivalence;
import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.StepBudget;
import io.troupe.verifiers.math.parse.ParsedAnswer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** MATH-500's answers equal themselves however they are written, and nothing else. */
class Math500Test {
  /** Problems whose solution has another problem's answer in a box before the last. */
  private static final Set<String> SEVERAL_BOXES = Set.of("test/number_theory/459.json");

  private static final Pattern INTEGER = Pattern.compile("(?<![0-9.])[0-9]+(?![0-9.])");
  private static final Pattern FRACTION = Pattern.compile("\\\\frac\\{([0-9]+)}\\{([0-9]+)}");

  @Test
  void read_everyGold_isInTheGrammar() {
    assertThat(Math500.all())
        .hasSize(500)
        .allSatisfy(
            problem ->
                assertThat(ParsedAnswer.read(problem.answer(), new StepBudget()).readings())
                    .isNotEmpty());
  }

  @Test
  void verify_goldSolutions_areRight() {
    for (Math500 problem : Math500.all()) {
      boolean several = SEVERAL_BOXES.contains(problem.id());
      MathVerifier verifier =
          several ? MathVerifier.Reading.HENDRYCKS.verifier() : MathVerifier.training();
      assertEqual(verifier, problem.answer(), problem.solution());
      assertEqual(verifier, problem.solution(), problem.solution());
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void verify_rewrittenGold_isRight(long seed) {
    Random random = new Random(seed);
    for (Math500 problem : Math500.all()) {
      String written = rewritten(problem.answer(), random);
      assertEqual(MathVerifier.training(), problem.answer(), sentence(written, random));
      assertEqual(MathVerifier.training(), written, sentence(problem.answer(), random));
    }
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twenty")
  void verify_anotherNumber_isWrong(long seed) {
    Random random = new Random(seed);
    for (Math500 problem : Math500.all()) {
      String changed = incremented(problem.answer(), random);
      if (!changed.equals(problem.answer())) {
        assertDifferent(problem.answer(), sentence(rewritten(changed, random), random));
      }
    }
  }

  @Test
  void verify_oppositeSign_isWrong() {
    for (Math500 problem : Math500.all()) {
      Expr expr = ParsedAnswer.read(problem.answer(), new StepBudget()).readings().get(0).expr();
      boolean isZero = problem.answer().equals("0");
      if (AnswerComparison.isScalar(expr) && !isZero && !problem.answer().contains("\\pm")) {
        assertDifferent(
            problem.answer(), "\\boxed{-(%s)}".formatted(withoutUnit(problem.answer())));
      }
    }
  }

  @Test
  void verify_otherProblemsAnswer_isWrongUnlessTheSame() {
    List<Math500> problems = Math500.all();
    for (int i = 1; i < problems.size(); i++) {
      String gold = problems.get(i).answer();
      String other = problems.get(i - 1).answer();
      boolean there = AnswerEquivalence.compare(gold, other, new StepBudget()).isEqual();
      boolean back = AnswerEquivalence.compare(other, gold, new StepBudget()).isEqual();
      assertThat(there).as("%s and %s", gold, other).isEqualTo(back);
    }
  }

  private static String withoutUnit(String answer) {
    return answer.replace("\\$", "").replaceAll("\\\\(text|mbox)\\{[^}]*}(\\^2)?|\\^\\\\circ", "");
  }

  private static String incremented(String answer, Random random) {
    List<int[]> places = new ArrayList<>();
    for (Matcher m = INTEGER.matcher(answer.replace("\\!", "__")); m.find(); ) {
      places.add(new int[] {m.start(), m.end()});
    }
    boolean unit = answer.contains("mbox") || answer.contains(",\\!");
    if (places.isEmpty() || unit) {
      return answer;
    }
    int[] place = places.get(random.nextInt(places.size()));
    String digits = answer.substring(place[0], place[1]);
    long value = Long.parseLong(digits) + 1;
    return answer.substring(0, place[0]) + value + answer.substring(place[1]);
  }

  private static String rewritten(String answer, Random random) {
    String text = answer;
    boolean words = answer.contains("\\text") || answer.contains("\\mbox");
    if (random.nextBoolean()) {
      text = text.replace("\\frac", random.nextBoolean() ? "\\dfrac" : "\\tfrac");
    }
    if (random.nextBoolean() && !words) {
      text = text.replace("+", " + ").replace("=", " = ").replace("\\\\", " \\\\ ");
    }
    if (random.nextBoolean() && !words) {
      text = text.replace(" + ", "+").replace(" - ", "-");
    }
    if (random.nextBoolean() && !words && !text.contains("\\left")) {
      text = text.replace("(", "\\left(").replace(")", "\\right)").replace("]", "\\right]");
      text = text.replace("[", "\\left[");
    }
    if (random.nextBoolean()) {
      text = text.replace("-", "\u2212");
    }
    if (random.nextInt(4) == 0) {
      text = fullWidth(text);
    }
    if (random.nextInt(4) == 0) {
      text = text + "\u200b";
    }
    Matcher fraction = FRACTION.matcher(answer);
    if (random.nextBoolean() && fraction.matches() && terminates(fraction.group(2))) {
      text =
          new java.math.BigDecimal(fraction.group(1))
              .divide(new java.math.BigDecimal(fraction.group(2)))
              .toPlainString();
    }
    if (answer.matches("[0-9]{1,9}")) {
      text =
          switch (random.nextInt(6)) {
            case 0 -> "x = " + answer;
            case 1 -> answer + "\\text{ units}";
            case 2 -> "%,d".formatted(Long.parseLong(answer));
            case 3 -> answer + ".00";
            case 4 -> "\\frac{%d}{7}".formatted(7 * Long.parseLong(answer));
            default -> text;
          };
    }
    if (answer.matches("-?[0-9]+(, ?-?[0-9]+)+") && !answer.matches("[0-9]+,[0-9]{3}")) {
      List<String> items = new ArrayList<>(List.of(answer.split(", ?", 20)));
      Collections.shuffle(items, random);
      text = String.join(random.nextBoolean() ? ", " : " \\text{ and } ", items);
    }
    return random.nextBoolean() ? "$" + text + "$" : text;
  }

  private static boolean terminates(String denominator) {
    long rest = Long.parseLong(denominator);
    for (int factor : new int[] {2, 5}) {
      while (rest % factor == 0) {
        rest /= factor;
      }
    }
    return rest == 1;
  }

  private static String fullWidth(String text) {
    StringBuilder wide = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      wide.append(c >= '0' && c <= '9' ? (char) (c - '0' + '０') : c);
    }
    return wide.toString();
  }

  private static String sentence(String answer, Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> "Thus we get $\\boxed{%s}.$".formatted(answer);
      case 1 -> "\\[\\boxed{%s}\\]\nI hope it is correct.".formatted(answer);
      case 2 -> "2 + 2 = 4, and so\n#### %s\n".formatted(answer.replace("\n", " "));
      default -> "<think>3?</think> \\fbox{%s} it is, not 3.".formatted(answer);
    };
  }

  private static void assertEqual(MathVerifier verifier, String gold, String completion) {
    assertThat(passes(verifier, gold, completion)).as("%s: %s", gold, completion).isTrue();
  }

  private static void assertDifferent(String gold, String completion) {
    assertThat(passes(MathVerifier.training(), gold, completion))
        .as("%s: %s", gold, completion)
        .isFalse();
  }

  private static boolean passes(MathVerifier verifier, String gold, String completion) {
    Prompt prompt = new Prompt(new PromptId("p"), "s", "t", gold, "");
    return ((Verdict.Scored) verifier.verify(prompt, completion)).passed();
  }
}
