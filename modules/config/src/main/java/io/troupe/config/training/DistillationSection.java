package io.troupe.config.training;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.rollout.EndpointsSection;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.config.schema.RelativeToFile;
import io.troupe.engine.http.client.InferenceEndpoint;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** The distillation of a teacher's distributions into the policy. */
public record DistillationSection(
    @Doc(
            "Divergence from the teacher, added to each token's loss: `jsd` (Agarwal et al. 2024),"
                + " `forward_kl`, or `none`.")
        @Default("none")
        Divergence divergence,
    @Doc(
            "The teacher: a Hugging Face checkpoint, or a run's, whose tokens are the policy's; a"
                + " relative path starts from the folder of the configuration file. Empty means the"
                + " reference policy.")
        @Default("")
        @RelativeToFile
        String teacher,
    @Doc(
            "URLs of inference servers that give the teacher, such as `http://10.0.0.7:8000`, all"
                + " with the same model, whose tokens are the policy's; in place of `teacher`.")
        List<String> teacherUrls,
    @Doc(
            "Where their API key is: `env:NAME`, a variable of the environment, or `file:PATH`;"
                + " empty for none.")
        @Default("")
        String teacherKey,
    @Doc("How long a step waits while none of them answers; then the run fails.")
        @Default("600s")
        @Range(min = 1)
        Duration teacherPatience,
    @Doc(
            "What the teacher reads before a completion, with `{prompt}` and `{solution}` in it;"
                + " empty means the prompt itself. A completion that does not fit behind it teaches"
                + " nothing.")
        @Default("")
        String teacherPrompt,
    @Doc("Multiplies the divergence.") @Default("0.1") @Range(min = 0, minExclusive = true)
        double coefficient,
    @Doc(
            "The teacher's share in the mixture of `jsd`; 0 is the forward KL and 1 the reverse."
                + " Near the ends, but not at them, the gradient shrinks with mix or 1 - mix.")
        @Default("0.9")
        @Range(min = 0, max = 1)
        double mix,
    @Doc(value = "K, the teacher's likeliest tokens at each position.", unit = "tokens")
        @Default("20")
        @Range(min = 1, max = 1000)
        int topK,
    @Doc(
            "Multiplies the policy gradient and the KL penalty beside it; 0 leaves the distillation"
                + " alone.")
        @Default("1.0")
        @Range(min = 0)
        double policyCoefficient,
    @Doc(
            "Whether on-policy self-distillation, `forward_kl` with policy_coefficient 0, leaves"
                + " out completions that pass, which have nothing to learn.")
        @Default("true")
        boolean discardPerfect)
    implements Validated {
  public DistillationSection {
    teacherUrls = List.copyOf(teacherUrls);
  }

  @Override
  public void check(RuleChecker rules) {
    EndpointsSection.check(rules, "teacher_urls", teacherUrls, "teacher_key", teacherKey);
    rules
        .on("teacher_urls", "teacher")
        .require(
            () -> teacherUrls.isEmpty() || teacher.isEmpty(),
            "names servers, and teacher names a checkpoint: there is one teacher",
            "leave one of them out");
  }

  /** Whether there is a teacher beside the reference policy. */
  public boolean hasTeacher() {
    return hasTeacherCheckpoint() || hasTeacherServers();
  }

  /** Whether this process reads the teacher's weights. */
  public boolean hasTeacherCheckpoint() {
    return divergence != Divergence.NONE && !teacher.isEmpty();
  }

  /** Whether servers teach. */
  public boolean hasTeacherServers() {
    return divergence != Divergence.NONE && !teacherUrls.isEmpty();
  }

  /**
   * The servers that teach, with their key.
   *
   * @throws IOException if the key is not where it should be
   */
  public List<InferenceEndpoint> teacherEndpoints() throws IOException {
    return EndpointsSection.endpoints(teacherUrls, 1, "distillation.teacher_key", teacherKey);
  }

  /** Whether completions with a reward of 1 are left out. */
  public boolean discards() {
    return discardPerfect && divergence == Divergence.FORWARD_KL && policyCoefficient == 0;
  }

  /** Divergences by name. */
  public enum Divergence {
    /** No teacher. */
    NONE,
    /** Generalised Jensen-Shannon divergence. */
    JSD,
    /** KL(teacher || policy). */
    FORWARD_KL
  }
}
