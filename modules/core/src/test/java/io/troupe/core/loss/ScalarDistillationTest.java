package io.troupe.core.loss;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class ScalarDistillationTest {
  private static final double STEP = 1e-6;

  /** Probabilities 0.5 and 0.25, which renormalise to 2/3 and 1/3. */
  private static final float[] TEACHER = {(float) Math.log(.5), (float) Math.log(.25)};

  private static final double[] POLICY = {Math.log(.3), Math.log(.1)};

  @Test
  void token_goldenVector_givesBothDivergences() {
    ScalarDistillation.Term jsd =
        ScalarDistillation.token(new Distillation.Jsd(2, .9, 2), TEACHER, POLICY);
    assertThat(jsd.divergence()).isCloseTo(0.022141277, within(5e-9));
    assertThat(jsd.value()).isCloseTo(2 * 0.022141277, within(1e-8));
    ScalarDistillation.Term kl =
        ScalarDistillation.token(new Distillation.ForwardKl(.5, 2, false), TEACHER, POLICY);
    assertThat(kl.divergence()).isCloseTo(0.933663, within(5e-7));
    assertThat(kl.value()).isCloseTo(.5 * 0.933663, within(5e-7));
  }

  @Test
  void token_policyAgreesWithTheWholeTeacher_isZeroWithoutGradientOfJsd() {
    float[] all = {(float) Math.log(.5), (float) Math.log(.5)};
    double[] same = {Math.log(.5), Math.log(.5)};
    ScalarDistillation.Term jsd =
        ScalarDistillation.token(new Distillation.Jsd(1, .5, 2), all, same);
    assertThat(jsd.divergence()).isCloseTo(0, within(1e-7));
    assertThat(jsd.derivatives()[0]).isCloseTo(0, within(1e-7));
  }

  /**
   * T = (0.7, 0.2, 0.1) and S = (0.1, 0.3, 0.6) are whole distributions: sum T log(T/S) =
   * 1.1018681358 and sum S log(S/T) = 1.0021041991. The derivatives by log S are S - T and S
   * log(S/T).
   */
  @Test
  void token_jsdAtItsEnds_isForwardAndReverseKl() {
    float[] teacher = {(float) Math.log(.7), (float) Math.log(.2), (float) Math.log(.1)};
    double[] policy = {Math.log(.1), Math.log(.3), Math.log(.6)};
    ScalarDistillation.Term forward =
        ScalarDistillation.token(new Distillation.Jsd(2, 0, 3), teacher, policy);
    assertThat(forward.divergence()).isCloseTo(1.1018681358, within(1e-6));
    assertThat(forward.value()).isCloseTo(2 * 1.1018681358, within(1e-6));
    assertThat(forward.derivatives()).containsExactly(new double[] {-1.2, .2, 1}, within(1e-6));
    ScalarDistillation.Term reverse =
        ScalarDistillation.token(new Distillation.Jsd(.5, 1, 3), teacher, policy);
    assertThat(reverse.divergence()).isCloseTo(1.0021041991, within(1e-6));
    assertThat(reverse.derivatives())
        .containsExactly(new double[] {-.0972955075, .0608197662, .5375278408}, within(1e-6));
  }

  /** Over some tokens alone, S sums to 0.4: 0.3336627323 and 0.2400504107 nats. */
  @Test
  void token_jsdAtItsEndsOverSomeTokens_isTheLimitOfWhatLiesBetween() {
    for (double end : new double[] {0, 1}) {
      ScalarDistillation.Term limit =
          ScalarDistillation.token(new Distillation.Jsd(1, end, 2), TEACHER, POLICY);
      double near = 1e-5;
      ScalarDistillation.Term close =
          ScalarDistillation.token(
              new Distillation.Jsd(1, Math.abs(end - near), 2), TEACHER, POLICY);
      assertThat(limit.divergence())
          .isCloseTo(end == 0 ? 0.3336627323 : 0.2400504107, within(1e-6));
      assertThat(close.divergence() / near).isCloseTo(limit.divergence(), within(1e-4));
      for (int k = 0; k < 2; k++) {
        assertThat(close.derivatives()[k] / near).isCloseTo(limit.derivatives()[k], within(1e-4));
      }
    }
  }

  @Test
  void token_rowWithoutMass_staysFinite() {
    float[] none = {-100, -100};
    for (double mix : new double[] {0, .9, 1}) {
      ScalarDistillation.Term term =
          ScalarDistillation.token(new Distillation.Jsd(1, mix, 2), none, POLICY);
      assertThat(term.value()).isFinite();
      assertThat(term.derivatives()).doesNotContain(Double.NaN);
    }
    ScalarDistillation.Term kl =
        ScalarDistillation.token(new Distillation.ForwardKl(1, 2, false), none, POLICY);
    assertThat(kl.value()).isCloseTo(0, within(1e-30));
    assertThat(kl.derivatives()[0]).isCloseTo(0, within(1e-30));
  }

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void token_anyDistributions_derivativesAreCentralDifferences(long seed) {
    Random random = new Random(seed);
    int topK = 1 + random.nextInt(5);
    Distillation distillation =
        random.nextBoolean()
            ? new Distillation.Jsd(
                .1 + random.nextDouble(), Math.clamp(1.4 * random.nextDouble() - .2, 0, 1), topK)
            : new Distillation.ForwardKl(.1 + random.nextDouble(), topK, false);
    float[] teacher = new float[topK];
    double[] policy = new double[topK];
    for (int k = 0; k < topK; k++) {
      teacher[k] = -4 * random.nextFloat();
      policy[k] = -4 * random.nextDouble() - Math.log(topK);
    }
    double[] derivatives = ScalarDistillation.token(distillation, teacher, policy).derivatives();
    for (int k = 0; k < topK; k++) {
      double[] above = policy.clone();
      double[] below = policy.clone();
      above[k] += STEP;
      below[k] -= STEP;
      double difference =
          ScalarDistillation.token(distillation, teacher, above).value()
              - ScalarDistillation.token(distillation, teacher, below).value();
      assertThat(difference / (2 * STEP)).isCloseTo(derivatives[k], within(1e-6));
    }
  }

  @Test
  void settings_outOfRange_areRefusedByName() {
    assertThatThrownBy(() -> new Distillation.Jsd(0, .9, 20))
        .hasMessage("the coefficient of a distillation is a finite number greater than 0, not 0.0");
    assertThatThrownBy(() -> new Distillation.Jsd(1, 1.1, 20))
        .hasMessage("the mix of a distillation lies in [0, 1], not 1.1");
    assertThatThrownBy(() -> new Distillation.ForwardKl(1, 0, false))
        .hasMessage("a distillation takes 1 token of the teacher or more, not 0");
    assertThatThrownBy(
            () -> ScalarDistillation.token(new Distillation.None(), TEACHER, new double[1]))
        .hasMessage("2 tokens of a teacher need as many of the policy's log-probabilities, not 1");
  }
}
