package io.troupe.gym.session;

import io.troupe.config.policy.PolicySection;
import io.troupe.config.policy.TorchKeys;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.PolicyEngines;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.engine.djl.torch.ComputeSettings;
import io.troupe.gym.agent.ModelMaker;
import io.troupe.gym.agent.OldRowsAgent;
import io.troupe.gym.agent.RowMaker;
import io.troupe.gym.agent.SkillTreeAgent;
import io.troupe.gym.agent.SkillTreeAgent.Growth;
import io.troupe.gym.arithmetic.ArithmeticGym;
import io.troupe.gym.arithmetic.ArithmeticMaker;
import io.troupe.gym.config.GymAgentSection;
import io.troupe.gym.config.GymConfig;
import io.troupe.gym.config.GymTaskSection;
import io.troupe.gym.config.TrialsSection;
import io.troupe.gym.item.GymTask;
import io.troupe.gym.model.JournalledModel;
import io.troupe.gym.model.LanguageModel;
import io.troupe.gym.skill.RowShares;
import io.troupe.gym.skill.SkillAction.Explore;
import io.troupe.gym.skill.SkillPolicy;
import io.troupe.gym.student.EngineStudents;
import io.troupe.gym.student.Students;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The parts that a gym's configuration names. */
public final class GymParts {
  private GymParts() {}

  /** Makes the parts of a gym. */
  public static GymSession.Parts of(GymConfig config, Students students) {
    GymTaskSection.Arithmetic section = (GymTaskSection.Arithmetic) config.task();
    ArithmeticGym task = arithmetic(section);
    return of(
        config,
        students,
        task,
        new ArithmeticMaker(task, config.gate().weak(), section.baseRows()));
  }

  /**
   * Makes the parts of a gym whose rows a language model writes.
   *
   * @param journal that gets every answer before it is used
   */
  public static GymSession.Parts of(
      GymConfig config, Students students, GymJournal journal, LanguageModel model) {
    ArithmeticGym task = arithmetic((GymTaskSection.Arithmetic) config.task());
    JournalledModel paid =
        new JournalledModel(
            model,
            config.model().budget(),
            config.model().cacheFolder(),
            journal::state,
            journal::append);
    return of(config, students, task, new ModelMaker(task, paid));
  }

  private static GymSession.Parts of(
      GymConfig config, Students students, ArithmeticGym task, RowMaker maker) {
    GymTaskSection.Arithmetic section = (GymTaskSection.Arithmetic) config.task();
    List<String> weak = config.gate().weak();
    GymSession.BaseRows base = seed -> task.baseRows(weak, section.baseRows(), seed);
    Map<String, GymSession.ArmAgent> agents = new HashMap<>();
    int rows = config.trials().rows();
    for (TrialsSection.Arm arm : config.trials().arms()) {
      agents.put(
          arm.name().toLowerCase(Locale.ROOT),
          seed ->
              arm == TrialsSection.Arm.OLD_ROWS
                  ? new OldRowsAgent(base.of(seed), rows)
                  : new SkillTreeAgent(
                      growth(arm, config.agent()), maker, rows, config.agent().patience()));
    }
    return new GymSession.Parts(task, students, agents, maker, base, config.quality().rules());
  }

  /** Returns the items that a gym asks. */
  public static GymTask task(GymConfig config) {
    return arithmetic((GymTaskSection.Arithmetic) config.task());
  }

  private static ArithmeticGym arithmetic(GymTaskSection.Arithmetic section) {
    return new ArithmeticGym(section.validationItems(), section.testItems());
  }

  private static Growth growth(TrialsSection.Arm arm, GymAgentSection keys) {
    Explore explore = new Explore(keys.newSubskills(), keys.newRows());
    return switch (arm) {
      case WEAKNESS -> new Growth.Divided(new RowShares.Weakness(keys.floor()));
      case UNIFORM -> new Growth.Divided(new RowShares.Uniform());
      case RANDOM -> new Growth.Divided(new RowShares.Drawn());
      case ALTERNATING ->
          new Growth.Separate(new SkillPolicy.Alternating(explore, keys.mostRows()));
      case FILL_BALANCED ->
          new Growth.Separate(
              new SkillPolicy.FillBalanced(explore, keys.subskills(), keys.fill(), keys.most()));
      case COIN -> new Growth.Separate(new SkillPolicy.Coin(keys.most()));
      case THRESHOLD ->
          new Growth.Separate(new SkillPolicy.Threshold(0.01, keys.newRows(), explore));
      case OLD_ROWS -> throw new IllegalArgumentException("old rows are divided by no tree");
    };
  }

  /** Loads the student's engine. */
  public static Students students(GymConfig config) {
    PolicySection.Djl policy = (PolicySection.Djl) config.policy();
    TorchKeys keys = policy.compute();
    PolicyEngines engines =
        DjlPolicy.create(
            policy.decoder(),
            new CharacterTokenizer(ArithmeticGym.alphabet()),
            ComputeSettings.of(
                keys.trainerThreads(), keys.samplerThreads(), keys.microBatchTokens()));
    return new EngineStudents(engines, config.student().settings());
  }
}
