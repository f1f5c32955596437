package io.troupe.cluster.ranks;

import io.troupe.engine.Optimisation;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankShare;
import io.troupe.engine.parallel.RankStep;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.SocketTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The head's end of the connection to a rank: an order, signs of life, and its answer. */
final class RankCall implements AutoCloseable {
  /** How long a rank that obeys may give no sign of life, and take nothing that it is sent. */
  static final Duration SILENCE = Duration.ofSeconds(20);

  private final RankLine line;
  private volatile boolean open = true;

  RankCall(RankLine line) {
    this.line = line;
  }

  /** It could not do what was asked, or gave no sign of life: a new process may do better. */
  static final class RankFailedException extends IOException {
    private static final long serialVersionUID = 1L;

    RankFailedException(String reason) {
      super(reason);
    }
  }

  /** Whether nothing has gone wrong with it so far. */
  boolean open() {
    return open;
  }

  /** Where it listens for the one before it in a new group. */
  String listen() throws IOException, RankLostException {
    return switch (ask(new RankTalk.Listen())) {
      case RankTalk.Listening(String address) -> address;
      case RankTalk.Answer other -> throw strange(other);
    };
  }

  /**
   * Sends it what a trainer has saved.
   *
   * @return the folder where it has that now
   */
  String send(Path state) throws IOException, RankLostException {
    List<String> files = SavedState.files(state);
    try {
      line.say(new RankTalk.Take(files));
      SavedState.send(line, state, files);
    } catch (IOException gone) {
      throw broken(gone);
    }
    return switch (answer()) {
      case RankTalk.Taken(String folder) -> folder;
      case RankTalk.Answer other -> throw strange(other);
    };
  }

  /**
   * Has it begin.
   *
   * @param addresses where the ranks of the group listen, by their places
   * @param folder with what a trainer has saved, on the rank's host
   * @param ticket where it waits for the others to have joined
   */
  boolean begin(int place, List<String> addresses, String folder, StepGate.Ticket ticket)
      throws IOException, RankLostException {
    say(new RankTalk.Begin(place, addresses, folder));
    ticket.hears(this::tell); // Another one may be lost before this one has joined.
    return switch (answer(ticket::ready, ticket::missed)) {
      case RankTalk.Begun() -> true;
      case RankTalk.Answer other -> throw strange(other);
    };
  }

  /**
   * Has it make a step.
   *
   * @param ticket where it waits for the others' gradients
   * @param arena where its pieces go
   */
  RankStep step(RankShare share, Optimisation optimisation, StepGate.Ticket ticket, Arena arena)
      throws IOException, RankLostException {
    say(new RankTalk.Step(share, optimisation));
    Runnable ready =
        () -> {
          ticket.hears(this::tell);
          ticket.ready();
        };
    return switch (answer(ready, ticket::missed)) {
      case RankTalk.Moved(var norm, var part) -> {
        try {
          yield new RankStep.Moved(
              norm, part, line.hearArray(arena), line.hearArray(arena), line.hearArray(arena));
        } catch (IOException gone) {
          throw broken(gone);
        }
      }
      case RankTalk.Refused(String reason) -> new RankStep.Refused(reason);
      case RankTalk.Answer other -> throw strange(other);
    };
  }

  private RankTalk.Answer ask(RankTalk.Order order) throws IOException, RankLostException {
    say(order);
    return answer();
  }

  private void say(RankTalk message) throws IOException {
    try {
      line.say(message);
    } catch (IOException gone) {
      throw broken(gone);
    }
  }

  private RankTalk.Answer answer() throws IOException, RankLostException {
    return answer(
        () -> {
          throw new IllegalStateException("a rank is ready for a step that nobody asked for");
        },
        (_, reason) -> {
          throw new IllegalStateException("a rank that nobody sent misses another: " + reason);
        });
  }

  /** What a rank says that cannot join another one. */
  @FunctionalInterface
  private interface Missing {
    void of(int place, String reason);
  }

  /** Passes on what went wrong; a rank that failed by its own fault is the lost one. */
  private RankTalk.Answer answer(Runnable ready, Missing missing)
      throws IOException, RankLostException {
    while (true) {
      switch (hear()) {
        case RankTalk.Alive _ -> {}
        case RankTalk.Ready _ -> ready.run();
        case RankTalk.Missed(int other, String reason) -> missing.of(other, reason);
        case RankTalk.Lost(int other, String reason) -> throw new RankLostException(other, reason);
        case RankTalk.Failed(String reason) -> throw new RankFailedException(reason);
        case RankTalk.Answer answer -> {
          return answer;
        }
        case RankTalk other -> throw new IOException("no answer of a rank's: " + other);
      }
    }
  }

  private RankTalk hear() throws IOException {
    try {
      return line.hear();
    } catch (IOException gone) {
      throw broken(gone);
    }
  }

  /** Another thread hears what comes of it. */
  private void tell(RankTalk.Verdict verdict) {
    try {
      line.say(verdict);
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

  private static IOException strange(RankTalk.Answer answer) {
    return new IOException("it answered " + answer);
  }

  /** Hangs up, in the middle of whatever another thread hears. */
  @Override
  public void close() {
    open = false;
    try {
      line.close();
    } catch (IOException gone) {
      // It is closed.
    }
  }
}
