package io.troupe.ranks.protocol;

import io.troupe.base.failure.Closing;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankStepOutcome;
import io.troupe.engine.parallel.StateFiles;
import io.troupe.engine.safetensors.TensorRangeWriter;
import io.troupe.engine.train.OptimizerSettings;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The coordinator's end of the connection to a rank: an order, signs of life, and its answer. */
public final class RankClient implements AutoCloseable {
  /** How long a rank that obeys may give no sign of life, and take nothing that it is sent. */
  public static final Duration HEARTBEAT_TIMEOUT = Duration.ofSeconds(20);

  private static final Logger LOG = LoggerFactory.getLogger(RankClient.class);

  private final RankConnection line;
  private volatile boolean open = true;

  public RankClient(RankConnection line) {
    this.line = line;
  }

  /** A rank failed at an order, or gave no sign of life; a new process may succeed. */
  public static final class RankFailedException extends IOException {
    private static final long serialVersionUID = 1L;

    RankFailedException(String reason) {
      super(reason);
    }
  }

  /** Whether nothing has gone wrong with it so far. */
  public boolean open() {
    return open;
  }

  /** Returns the address at which the rank listens for the one before it in a new group. */
  public String listen() throws IOException, RankLostException {
    return switch (ask(new RankProtocol.Listen())) {
      case RankProtocol.Listening(String address) -> address;
      case RankProtocol.Answer other -> throw strange(other);
    };
  }

  /** Whether its host has a folder of the coordinator's under the same name. */
  public boolean sees(MarkedFolder marked) throws IOException, RankLostException {
    return switch (ask(new RankProtocol.FindFolder(marked.name(), marked.mark()))) {
      case RankProtocol.FolderFound(boolean there) -> there;
      case RankProtocol.Answer other -> throw strange(other);
    };
  }

  /**
   * Has it write its piece of the state into files, or send it if its host does not have them.
   *
   * @param marks of what the files have, and of what they are to have
   * @return the ranges whose changes did not make what the rank has, so that it has sent its piece
   *     again, whole
   */
  public int write(
      StateFiles files, VersionMarks marks, MarkedFolder marked, TensorRangeWriter writer)
      throws IOException, RankLostException {
    if (sees(marked)) {
      written(
          new RankProtocol.WriteState(marked.name(), files.names(), files.parts(), files.durable()),
          Optional.empty());
      return 0;
    }
    ReceivedState received = new ReceivedState(writer);
    written(new RankProtocol.SendState(files.parts(), marks), Optional.of(received));
    if (!received.refused().isEmpty()) {
      LOG.warn(
          "event=rank_changes_refused ranges={} first=\"{}\" then=\"the piece is sent whole\"",
          received.refused().size(),
          received.refused().getFirst());
      written(
          new RankProtocol.SendState(files.parts(), marks.whole()),
          Optional.of(new ReceivedState(writer)));
    }
    return received.refused().size();
  }

  private void written(RankProtocol.Order order, Optional<ReceivedState> to)
      throws IOException, RankLostException {
    sendMessage(order);
    switch (answer(RankClient::unaskedReady, RankClient::unaskedMissed, to)) {
      case RankProtocol.StateWritten() -> {}
      case RankProtocol.Answer other -> throw strange(other);
    }
  }

  /** Has it freeze its reference. */
  public boolean freezeReference() throws IOException, RankLostException {
    return switch (ask(new RankProtocol.FreezeReference())) {
      case RankProtocol.ReferenceFrozen() -> true;
      case RankProtocol.Answer other -> throw strange(other);
    };
  }

  /** Returns the bytes that were sent to it and received from it. */
  public long bytes() {
    return line.bytes();
  }

  /**
   * Sends it what a trainer has saved, unless its host has that.
   *
   * @return the folder where it has that now
   */
  public String sendState(Path state, MarkedFolder marked) throws IOException, RankLostException {
    if (sees(marked)) {
      return marked.name();
    }
    List<String> files =
        StateTransfer.files(state).stream().filter(file -> !file.equals(marked.mark())).toList();
    try {
      line.send(new RankProtocol.ReceiveState(files));
      StateTransfer.send(line, state, files);
    } catch (IOException gone) {
      throw broken(gone);
    }
    return switch (answer()) {
      case RankProtocol.StateReceived(String folder) -> folder;
      case RankProtocol.Answer other -> throw strange(other);
    };
  }

  /**
   * Has it begin.
   *
   * @param addresses where the ranks of the group listen, by their places
   * @param folder with what a trainer has saved, on the rank's host
   * @param ticket where it waits for the others to have joined
   */
  public boolean begin(int place, List<String> addresses, String folder, StepBarrier.Arrival ticket)
      throws IOException, RankLostException {
    sendMessage(new RankProtocol.JoinGroup(place, addresses, folder));
    ticket.onVerdict(this::sendVerdict); // Another one may be lost before this one has joined.
    return switch (answer(ticket::ready, ticket::missed)) {
      case RankProtocol.GroupJoined() -> true;
      case RankProtocol.Answer other -> throw strange(other);
    };
  }

  /**
   * Has it make a step.
   *
   * @param mark of the copies that it keeps of the state after the step
   * @param ticket where it waits for the others' gradients
   */
  public RankStepOutcome step(
      RankBatch batch, OptimizerSettings optimisation, long mark, StepBarrier.Arrival ticket)
      throws IOException, RankLostException {
    sendMessage(new RankProtocol.Step(batch, optimisation, mark));
    Runnable ready =
        () -> {
          ticket.onVerdict(this::sendVerdict);
          ticket.ready();
        };
    return switch (answer(ready, ticket::missed)) {
      case RankProtocol.StepDone(var norm, var part) -> new RankStepOutcome.Updated(norm, part);
      case RankProtocol.Refused(String reason) -> new RankStepOutcome.Refused(reason);
      case RankProtocol.Answer other -> throw strange(other);
    };
  }

  /** Returns which copies it keeps. */
  public List<CopyPlan.Held> copies() throws IOException, RankLostException {
    return switch (ask(new RankProtocol.ListCopies())) {
      case RankProtocol.CopiesListed(List<CopyPlan.Held> copies) -> copies;
      case RankProtocol.Answer other -> throw strange(other);
    };
  }

  /** Has it take the state of a step from copies. */
  public boolean takeCopies(CopyPlan plan) throws IOException, RankLostException {
    return switch (ask(new RankProtocol.TakeCopies(plan))) {
      case RankProtocol.CopiesTaken() -> true;
      case RankProtocol.Answer other -> throw strange(other);
    };
  }

  private RankProtocol.Answer ask(RankProtocol.Order order) throws IOException, RankLostException {
    sendMessage(order);
    return answer();
  }

  private void sendMessage(RankProtocol message) throws IOException {
    try {
      line.send(message);
    } catch (IOException gone) {
      throw broken(gone);
    }
  }

  private static void unaskedReady() {
    throw new IllegalStateException("a rank is ready for a step that nobody asked for");
  }

  private static void unaskedMissed(int place, String reason) {
    throw new IllegalStateException(
        "the rank at place %d, which nobody sent, is missed: %s".formatted(place, reason));
  }

  private RankProtocol.Answer answer() throws IOException, RankLostException {
    return answer(RankClient::unaskedReady, RankClient::unaskedMissed);
  }

  private RankProtocol.Answer answer(Runnable ready, Missing missing)
      throws IOException, RankLostException {
    return answer(ready, missing, Optional.empty());
  }

  /** What a rank says that cannot join another one. */
  @FunctionalInterface
  private interface Missing {
    void of(int place, String reason);
  }

  /** Passes on what went wrong; a rank that failed by its own fault is the lost one. */
  private RankProtocol.Answer answer(Runnable ready, Missing missing, Optional<ReceivedState> to)
      throws IOException, RankLostException {
    while (true) {
      switch (receive()) {
        case RankProtocol.StateRange(String tensor, long from) ->
            receiveArray(tensor, to, (state, bytes) -> state.whole(tensor, from, bytes));
        case RankProtocol.ChangedRange changed ->
            receiveArray(
                changed.tensor(),
                to,
                (state, bytes) -> state.changed(changed, bytes.toArray(ValueLayout.JAVA_BYTE)));
        case RankProtocol.Heartbeat _ -> {}
        case RankProtocol.Ready _ -> ready.run();
        case RankProtocol.PeerMissed(int other, String reason) -> missing.of(other, reason);
        case RankProtocol.PeerLost(int other, String reason) ->
            throw new RankLostException(other, reason);
        case RankProtocol.Failed(String reason) -> throw new RankFailedException(reason);
        case RankProtocol.Answer answer -> {
          return answer;
        }
        case RankProtocol other -> throw new IOException("no answer of a rank's: " + other);
      }
    }
  }

  /** What becomes of an array. */
  private interface Taking {
    void into(ReceivedState state, MemorySegment bytes) throws IOException;
  }

  private void receiveArray(String tensor, Optional<ReceivedState> to, Taking taking)
      throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      ReceivedState state =
          to.orElseThrow(
              () -> new IOException("a rank sends the tensor %s unasked".formatted(tensor)));
      taking.into(state, line.receiveArray(arena));
    } catch (IOException gone) {
      throw broken(gone);
    }
  }

  private RankProtocol receive() throws IOException {
    try {
      return line.receive();
    } catch (IOException gone) {
      throw broken(gone);
    }
  }

  /** Another thread hears the result. */
  private void sendVerdict(RankProtocol.Verdict verdict) {
    try {
      line.send(verdict);
    } catch (IOException gone) {
      close();
    }
  }

  private IOException broken(IOException gone) {
    close();
    return gone instanceof SocketTimeoutException
        ? new RankFailedException(
            "it gave no sign of life (%s), and was ended".formatted(gone.getMessage()))
        : gone;
  }

  private static IOException strange(RankProtocol.Answer answer) {
    return new IOException("it answered " + answer);
  }

  /** Hangs up, in the middle of whatever another thread hears. */
  @Override
  public void close() {
    open = false;
    Closing.quietly(line);
  }
}
