package io.troupe.run.console;

import io.troupe.config.RunConfig;
import io.troupe.console.chat.Chat;
import io.troupe.console.process.JvmInspector;
import io.troupe.console.process.LocalJvm;
import io.troupe.core.run.Attribution;
import io.troupe.core.run.Event;
import io.troupe.core.run.OperatorCommand;
import io.troupe.core.run.RunState;
import io.troupe.store.folder.RunFolder;
import io.troupe.store.journal.RunJournal;
import io.troupe.store.state.RunJson;
import io.troupe.telemetry.MetricsFile;
import io.troupe.telemetry.view.RunFold;
import io.troupe.telemetry.view.RunViewSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A run that has ended or that another process writes, read from its journal and files. */
public final class FolderRun extends FoldedRun implements AutoCloseable {
  private static final int KEPT_EVENTS = 200_000;

  private final RunFolder folder;
  private final RunFold fold;
  private final RunJournal journal;
  private final Deque<Long> rowsRead = new ArrayDeque<>(); // their steps
  private boolean began;

  private FolderRun(RunFolder folder, RunFold fold, RunJournal journal, Path model) {
    super(fold, folder, false, model);
    this.folder = folder;
    this.fold = fold;
    this.journal = journal;
  }

  /** Reads a folder as far as it goes. */
  public static FolderRun open(RunFolder folder) throws IOException {
    return open(folder, folder.model());
  }

  /**
   * Reads a folder as far as it goes.
   *
   * @param model file of the model that predicts the run; a fit of the run where it does not exist
   */
  public static FolderRun open(RunFolder folder, Path model) throws IOException {
    RunConfig config = RunConfig.load(folder.resolved(), List.of()).config();
    RunViewSettings facts =
        new RunViewSettings(
            folder.name(),
            config.training().groupsPerStep(),
            config.rollout().completionsPerPrompt(),
            config.training().maxStaleness(),
            config.training().stale().name().toLowerCase(Locale.ROOT),
            config.rollout().maxConcurrentGroups(),
            config.training().steps(),
            config.training().groupUses());
    FolderRun run =
        new FolderRun(
            folder, new RunFold(facts, KEPT_EVENTS), RunJournal.open(folder.journal()), model);
    run.follow();
    return run;
  }

  /** Reads what was written since the last look. */
  public synchronized void follow() throws IOException {
    for (var next = journal.next(); next.isPresent(); next = journal.next()) {
      RunJson.Entry entry = next.get();
      if (!began) {
        began = true;
        journal
            .base()
            .ifPresent(base -> fold.event(entry.atMillis(), new Event.RunResumed(base.state())));
      }
      for (Event event : entry.events()) {
        fold.event(entry.atMillis(), event);
        if (event instanceof Event.RunResumed(RunState state)) {
          forgetRowsAfter(state.version().number());
        }
      }
    }
    for (Map<String, Object> row : MetricsFile.read(folder.metrics(), rowsRead.size())) {
      fold.row(row);
      rowsRead.add(row.get("step") instanceof Number step ? step.longValue() : 0L);
    }
  }

  /** A resume cuts them off the file, and steps made again come in their place. */
  private void forgetRowsAfter(long step) {
    while (!rowsRead.isEmpty() && rowsRead.getLast() > step) {
      rowsRead.removeLast();
    }
  }

  @Override
  public JvmInspector jvms() {
    return LocalJvm.bystander();
  }

  @Override
  public Chat chat() {
    return Chat.closed(
        "This is the folder of a run, and no policy is loaded here. Ask in the console of the run's own process while it trains, or: troupe serve %s"
            .formatted(folder.path()));
  }

  @Override
  public CompletionStage<Optional<String>> order(OperatorCommand verb, Attribution order) {
    return CompletableFuture.completedFuture(Optional.of("this is a run's folder, not the run"));
  }

  @Override
  public void close() throws IOException {
    journal.close();
  }
}
