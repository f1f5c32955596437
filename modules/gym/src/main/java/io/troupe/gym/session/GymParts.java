package io.troupe.gym.session;

import io.troupe.config.policy.PolicySection;
import io.troupe.engine.CharacterTokenizer;
import io.troupe.engine.djl.DjlPolicy;
import io.troupe.gym.agent.GymAgent;
import io.troupe.gym.agent.ModelMaker;
import io.troupe.gym.agent.OldRowsAgent;
import io.troupe.gym.agent.OpenEndedAgent;
import io.troupe.gym.agent.RowMaker;
import io.troupe.gym.agent.SkillListAgent;
import io.troupe.gym.agent.SkillTreeAgent;
import io.troupe.gym.agent.SkillTreeAgent.Growth;
import io.troupe.gym.arithmetic.ArithmeticGym;
import io.troupe.gym.arithmetic.ArithmeticMaker;
import io.troupe.gym.config.GymAgentSection;
import io.troupe.gym.config.GymConfig;
import io.troupe.gym.config.GymTaskSection;
import io.troupe.gym.config.TrialsSection;
import io.troupe.gym.data.DataSetGym;
import io.troupe.gym.data.GymDataSets;
import io.troupe.gym.discovery.DiscoveredSkills;
import io.troupe.gym.discovery.SkillDiscovery;
import io.troupe.gym.item.GymTask;
import io.troupe.gym.model.JournalledModel;
import io.troupe.gym.model.LanguageModel;
import io.troupe.gym.skill.RowShares;
import io.troupe.gym.skill.SkillAction.Explore;
import io.troupe.gym.skill.SkillPolicy;
import io.troupe.gym.student.CheckpointStudents;
import io.troupe.gym.student.EngineStudents;
import io.troupe.gym.student.Students;
import io.troupe.run.compose.PolicyOpening;
import io.troupe.run.compose.UnsupportedPolicyException;
import io.troupe.run.task.InvalidVerifierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The parts that a gym's configuration names. */
public final class GymParts {
  private GymParts() {}

  /**
   * Loads the task, with the skills that an earlier process discovered, if one did.
   *
   * @throws InvalidVerifierException if no verifier has a name that the data sets need
   */
  public static GymTask task(GymConfig config, GymFolder folder)
      throws IOException, InvalidVerifierException {
    return switch (config.task()) {
      case GymTaskSection.Arithmetic section -> arithmetic(section);
      case GymTaskSection.Datasets section -> {
        DataSetGym gym = GymDataSets.load(section);
        yield section.discovers() && Files.isRegularFile(folder.skills())
            ? gym.withSkills(DiscoveredSkills.read(folder.skills()).categoryOf())
            : gym;
      }
    };
  }

  /** Makes the parts of a gym whose rows a script makes. */
  public static GymSession.Parts of(GymConfig config, Students students, GymTask task) {
    GymTaskSection.Arithmetic section = (GymTaskSection.Arithmetic) config.task();
    return of(
        config,
        students,
        task,
        new ArithmeticMaker((ArithmeticGym) task, config.gate().weak(), section.baseRows()));
  }

  /**
   * Makes the parts of a gym whose rows a language model writes, after it has discovered the skills
   * of the items, if that is its task.
   *
   * @param folder that gets the skills
   * @param journal that gets every answer before it is used
   */
  public static GymSession.Parts of(
      GymConfig config,
      Students students,
      GymTask task,
      GymFolder folder,
      GymJournal journal,
      LanguageModel model)
      throws IOException {
    JournalledModel paid =
        new JournalledModel(
            model,
            config.model().budget(),
            config.model().cacheFolder(),
            journal::state,
            journal::append);
    GymTask skilled = task;
    if (config.task() instanceof GymTaskSection.Datasets section
        && section.discovers()
        && !Files.isRegularFile(folder.skills())) {
      DiscoveredSkills found =
          new SkillDiscovery(paid, config.agent().promptFiles(), config.agent().subskills())
              .discover(Stream.concat(task.validation().stream(), task.test().stream()).toList());
      found.write(folder.skills());
      skilled = ((DataSetGym) task).withSkills(found.categoryOf());
    }
    return of(
        config, students, skilled, new ModelMaker(skilled, config.agent().promptFiles(), paid));
  }

  private static GymSession.Parts of(
      GymConfig config, Students students, GymTask task, RowMaker maker) {
    GymSession.BaseRows base =
        config.task() instanceof GymTaskSection.Arithmetic section
            ? seed ->
                ((ArithmeticGym) task).baseRows(config.gate().weak(), section.baseRows(), seed)
            : _ -> List.of();
    Map<String, GymSession.ArmAgent> agents = new HashMap<>();
    for (TrialsSection.Arm arm : config.trials().arms()) {
      agents.put(
          arm.name().toLowerCase(Locale.ROOT), seed -> agent(config, arm, maker, base, seed));
    }
    return new GymSession.Parts(task, students, agents, maker, base, config.quality().rules());
  }

  private static GymAgent agent(
      GymConfig config,
      TrialsSection.Arm arm,
      RowMaker maker,
      GymSession.BaseRows base,
      long seed) {
    int rows = config.trials().rows();
    return switch (arm) {
      case OLD_ROWS -> new OldRowsAgent(base.of(seed), rows);
      case OPEN_ENDED -> new OpenEndedAgent(maker, rows);
      case SKILL_LIST -> new SkillListAgent(maker, rows);
      default ->
          new SkillTreeAgent(growth(arm, config.agent()), maker, rows, config.agent().patience());
    };
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
      case OLD_ROWS, OPEN_ENDED, SKILL_LIST ->
          throw new IllegalArgumentException(arm + " has no trees");
    };
  }

  /**
   * Loads what computes the student.
   *
   * @param say takes lines about the progress of trainings
   * @throws UnsupportedPolicyException if its checkpoint or device is not there
   */
  public static Students students(GymConfig config, Consumer<String> say)
      throws UnsupportedPolicyException {
    PolicyOpening.choosePyTorch(config.policy());
    return switch (config.policy()) {
      case PolicySection.Djl policy ->
          new EngineStudents(
              DjlPolicy.create(
                  policy.decoder(),
                  new CharacterTokenizer(ArithmeticGym.alphabet()),
                  PolicyOpening.compute(policy)),
              config.student().settings());
      case PolicySection.Pretrained policy -> {
        Path checkpoint =
            PolicyOpening.fetched(((GymTaskSection.Datasets) config.task()).data(), policy);
        var _ = PolicyOpening.opened(checkpoint, policy); // before it is copied as base student
        yield new CheckpointStudents(
            checkpoint, policy, config.student().settings(), config.student().training(say));
      }
      case PolicySection.Toy _ -> throw new IllegalArgumentException("a toy is no student");
    };
  }
}
