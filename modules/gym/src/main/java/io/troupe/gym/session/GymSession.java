package io.troupe.gym.session;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.SplitMix64;
import io.troupe.gym.agent.GymAgent;
import io.troupe.gym.agent.GymAgent.Proposal;
import io.troupe.gym.agent.RowMaker;
import io.troupe.gym.item.AnsweredItem;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.GymReport;
import io.troupe.gym.item.GymTask;
import io.troupe.gym.item.TrainingRow;
import io.troupe.gym.loop.GymLoop;
import io.troupe.gym.loop.GymOutcome;
import io.troupe.gym.loop.GymPlan;
import io.troupe.gym.loop.GymWork;
import io.troupe.gym.loop.Split;
import io.troupe.gym.loop.TrialState;
import io.troupe.gym.quality.QualityChecker;
import io.troupe.gym.quality.QualityChecker.Findings;
import io.troupe.gym.quality.QualityRules;
import io.troupe.gym.quality.QualityVerdict;
import io.troupe.gym.student.Students;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Does the work of a gym's loop, one after the other, and journals what each came to.
 *
 * <p>Every work writes whole files first and is journalled afterwards, so that a process may end
 * anywhere: the next one does at most the work again that was not journalled, and not even that if
 * it was a training whose folder is whole.
 */
public final class GymSession {
  private static final int GREEDY = 1;

  /**
   * The parts that a gym works with.
   *
   * @param agents by arm
   * @param baseRows of a seed
   * @param rules that rows must pass
   */
  public record Parts(
      GymTask task,
      Students students,
      Map<String, ArmAgent> agents,
      RowMaker maker,
      BaseRows baseRows,
      QualityRules rules) {
    public Parts {
      agents = Map.copyOf(agents);
    }
  }

  /** Makes the agent of an arm for a seed. */
  @FunctionalInterface
  public interface ArmAgent {
    GymAgent of(long seed);
  }

  /** Returns the rows of the base student of a seed. */
  @FunctionalInterface
  public interface BaseRows {
    List<TrainingRow> of(long seed);
  }

  /** The base student of a seed cannot be trained. */
  public static final class BaseStudentException extends IOException {
    private static final long serialVersionUID = 1;

    BaseStudentException(String message) {
      super(message);
    }
  }

  private final GymPlan plan;
  private final Parts parts;
  private final GymFolder folder;
  private final GymJournal journal;
  private final Consumer<String> say;

  /**
   * A session over a folder.
   *
   * @param say takes one line a work
   */
  public GymSession(
      GymPlan plan, Parts parts, GymFolder folder, GymJournal journal, Consumer<String> say) {
    this.plan = plan;
    this.parts = parts;
    this.folder = folder;
    this.journal = journal;
    this.say = say;
  }

  /**
   * Works until all trials have ended, or it is asked to stop between two works.
   *
   * @return whether all trials have ended
   */
  public boolean run(BooleanSupplier stop) throws IOException {
    while (!stop.getAsBoolean()) {
      GymWork work = GymLoop.next(journal.state());
      if (!(work instanceof GymWork.OfTrial ofTrial)) {
        return true;
      }
      GymOutcome outcome;
      try {
        outcome = outcome(work);
      } catch (Students.StoppedTrainingException stopped) {
        return false;
      } catch (Students.FailedTrainingException failed) {
        if (stop.getAsBoolean()) { // the training was asked to end, too
          return false;
        }
        throw failed;
      } catch (UncheckedIOException judge) {
        throw judge.getCause();
      }
      journal.append(GymLoop.decide(plan, journal.state(), outcome));
      String _ =
          GymFolder.write(
              folder.path().resolve(GymFolder.HISTORY),
              new GymHistory(plan, parts.task().name()).csv(journal.state()));
      GymPage.write(plan, folder, parts.task(), journal.state(), ofTrial.trial());
      say.accept(GymLines.of(plan, work, outcome, journal.state()));
    }
    return false;
  }

  private GymOutcome outcome(GymWork work) throws IOException {
    return switch (work) {
      case GymWork.MakeBase(int trial) -> makeBase(plan.trials().get(trial).seed());
      case GymWork.Evaluate at -> evaluate(at);
      case GymWork.Propose(int trial, int iteration) -> propose(trial, iteration);
      case GymWork.Check(int trial, int iteration) -> check(trial, iteration);
      case GymWork.Train(int trial, int iteration) -> train(trial, iteration);
      case GymWork.Finished() -> throw new IllegalStateException("nothing is left to do");
    };
  }

  private GymOutcome makeBase(long seed) throws IOException {
    Path base = folder.base(seed);
    StudentFolder student = new StudentFolder(base);
    List<TrainingRow> rows = parts.baseRows().of(seed);
    String key = StudentFolder.key("random weights", rows, seed);
    Students.Outcome outcome =
        student.once(key, fresh -> parts.students().makeBase(seed, rows, fresh));
    return switch (outcome) {
      case Students.Outcome.Fitted _ -> new GymOutcome.Made(student.digest());
      case Students.Outcome.NotFinite(String reason) ->
          throw new BaseStudentException("the base student of seed %d: %s".formatted(seed, reason));
    };
  }

  private GymOutcome evaluate(GymWork.Evaluate at) throws IOException {
    List<GymItem> items =
        at.split() == Split.TEST ? parts.task().test() : parts.task().validation();
    List<String> prompts = items.stream().map(GymItem::prompt).toList();
    List<List<String>> responses =
        parts
            .students()
            .answer(student(at.trial(), at.iteration()), prompts, GREEDY, seed(at.trial(), 0));
    List<AnsweredItem> answers = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      String response = responses.get(i).getFirst();
      answers.add(
          new AnsweredItem(items.get(i), response, parts.task().passes(items.get(i), response)));
    }
    GymReport report = GymReport.of(answers);
    return new GymOutcome.Scored(
        report,
        GymFolder.writeAnswers(
            iteration(at.trial(), at.iteration()),
            at.split(),
            parts.task().name(),
            answers,
            report));
  }

  private GymOutcome propose(int trial, int iteration) throws IOException {
    TrialState state = journal.state().trials().get(trial);
    GymPlan.Planned planned = plan.trials().get(trial);
    TrialState.Measured last = state.measured().getLast();
    List<AnsweredItem> answers =
        GymFolder.readAnswers(
            iteration(trial, last.iteration()), Split.VALIDATION, parts.task().validation());
    GymFolder.writeAgent(iteration(trial, iteration), state);
    GymAgent agent = Objects.requireNonNull(parts.agents().get(planned.arm())).of(planned.seed());
    Proposal proposal =
        agent.propose(
            new GymAgent.Sight(
                new RowMaker.Occasion(planned.seed(), trial, iteration),
                state,
                last.report(),
                answers));
    String digest =
        GymFolder.writeRows(
            iteration(trial, iteration).resolve(GymFolder.PROPOSED), proposal.rows());
    return new GymOutcome.Rows(
        proposal.actions(), proposal.trees(), proposal.rows().size(), digest);
  }

  private GymOutcome check(int trial, int iteration) throws IOException {
    List<TrainingRow> rows =
        GymFolder.readRows(iteration(trial, iteration).resolve(GymFolder.PROPOSED));
    QualityChecker checker =
        new QualityChecker(
            parts.rules(),
            Stream.concat(parts.task().validation().stream(), parts.task().test().stream())
                .toList());
    kept(trial, iteration - 1).forEach(checker::know);
    List<Findings> findings = findings(trial, iteration, rows, checker);
    List<TrainingRow> kept = new ArrayList<>();
    List<ObjectNode> refusedLines = new ArrayList<>();
    Map<String, Integer> keptOf = new TreeMap<>();
    Map<String, Integer> refused = new TreeMap<>();
    for (int i = 0; i < rows.size(); i++) {
      TrainingRow row = rows.get(i);
      switch (checker.judge(row, findings.get(i))) {
        case QualityVerdict.Kept() -> {
          kept.add(row);
          keptOf.merge(row.item().leaf(), 1, Integer::sum);
        }
        case QualityVerdict.Refused(String reason, String detail) -> {
          refusedLines.add(GymFolder.line(row, reason, detail));
          refused.merge(reason, 1, Integer::sum);
        }
      }
    }
    Path place = iteration(trial, iteration);
    String _ = GymFolder.write(place.resolve(GymFolder.REFUSED), GymFolder.text(refusedLines));
    return new GymOutcome.Judged(
        keptOf, refused, GymFolder.writeRows(place.resolve(GymFolder.KEPT), kept));
  }

  /** Returns the findings of maker and student about the rows that no other check refuses. */
  private List<Findings> findings(
      int trial, int iteration, List<TrainingRow> rows, QualityChecker checker) throws IOException {
    GymPlan.Planned planned = plan.trials().get(trial);
    RowMaker.Occasion occasion = new RowMaker.Occasion(planned.seed(), trial, iteration);
    QualityRules rules = parts.rules();
    List<Integer> asked = new ArrayList<>();
    List<Findings> findings = new ArrayList<>();
    for (int i = 0; i < rows.size(); i++) {
      TrainingRow row = rows.get(i);
      boolean passes = parts.task().passes(row.item(), row.response());
      boolean ask = passes && checker.refusedUnasked(row).isEmpty();
      int agreeing =
          ask && rules.solves() > 0 ? parts.maker().solves(occasion, row, rules.solves()) : 0;
      findings.add(new Findings(passes, agreeing, 0));
      if (ask && agreeing >= rules.agreeing()) {
        asked.add(i);
      }
    }
    if (rules.tries() == 0 || asked.isEmpty()) {
      return findings;
    }
    int last = journal.state().trials().get(trial).measured().getLast().iteration();
    List<List<String>> responses =
        parts
            .students()
            .answer(
                student(trial, last),
                asked.stream().map(i -> rows.get(i).item().prompt()).toList(),
                rules.tries(),
                seed(trial, iteration));
    for (int i = 0; i < asked.size(); i++) {
      GymItem item = rows.get(asked.get(i)).item();
      int solved =
          (int) responses.get(i).stream().filter(each -> parts.task().passes(item, each)).count();
      Findings before = findings.get(asked.get(i));
      findings.set(asked.get(i), new Findings(true, before.agreeing(), solved));
    }
    return findings;
  }

  private GymOutcome train(int trial, int iteration) throws IOException {
    GymPlan.Planned planned = plan.trials().get(trial);
    Path base = folder.base(planned.seed());
    List<TrainingRow> rows = kept(trial, iteration);
    StudentFolder student = new StudentFolder(student(trial, iteration));
    String key = StudentFolder.key(new StudentFolder(base).digest(), rows, seed(trial, iteration));
    Students.Outcome outcome =
        student.once(
            key,
            fresh ->
                parts
                    .students()
                    .train(
                        base,
                        rows,
                        parts.baseRows().of(planned.seed()),
                        seed(trial, iteration),
                        fresh));
    return switch (outcome) {
      case Students.Outcome.Fitted(int steps, double loss) ->
          new GymOutcome.Fitted(student.digest(), steps, loss);
      case Students.Outcome.NotFinite(String reason) -> new GymOutcome.NotFinite(reason);
    };
  }

  /** The rows that were kept up to an iteration. */
  private List<TrainingRow> kept(int trial, int upTo) throws IOException {
    List<TrainingRow> rows = new ArrayList<>();
    for (int i = 1; i <= upTo; i++) {
      Path file = iteration(trial, i).resolve(GymFolder.KEPT);
      if (Files.exists(file)) {
        rows.addAll(GymFolder.readRows(file));
      }
    }
    return rows;
  }

  private Path iteration(int trial, int iteration) {
    return folder.iteration(trial, plan.trials().get(trial), iteration);
  }

  /** The base, or what an iteration trained. */
  private Path student(int trial, int iteration) {
    return iteration == 0
        ? folder.base(plan.trials().get(trial).seed())
        : iteration(trial, iteration).resolve(GymFolder.STUDENT);
  }

  /** The arms of a seed have the same random numbers. */
  private long seed(int trial, int iteration) {
    return SplitMix64.mix(plan.trials().get(trial).seed() * 1_000L + iteration);
  }
}
