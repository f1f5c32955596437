package io.troupe.cluster.ranks;

import io.troupe.engine.Optimisation;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.RankShare;
import io.troupe.engine.parallel.RankStep;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The head's end of the connection to a rank: an order, and its answer. */
final class RankCall implements AutoCloseable {
  private final RankLine line;
  private volatile boolean open = true;

  RankCall(RankLine line) {
    this.line = line;
  }

  /** It answers, and could not do what was asked. */
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
      close();
      throw gone;
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
   */
  boolean begin(int place, List<String> addresses, String folder)
      throws IOException, RankLostException {
    return switch (ask(new RankTalk.Begin(place, addresses, folder))) {
      case RankTalk.Begun() -> true;
      case RankTalk.Answer other -> throw strange(other);
    };
  }

  RankStep step(RankShare share, Optimisation optimisation) throws IOException, RankLostException {
    return switch (ask(new RankTalk.Step(share, optimisation))) {
      case RankTalk.Moved(var norm, var part) -> {
        try {
          yield new RankStep.Moved(
              norm, part, line.hearArray(), line.hearArray(), line.hearArray());
        } catch (IOException gone) {
          close();
          throw gone;
        }
      }
      case RankTalk.Refused(String reason) -> new RankStep.Refused(reason);
      case RankTalk.Answer other -> throw strange(other);
    };
  }

  private RankTalk.Answer ask(RankTalk.Order order) throws IOException, RankLostException {
    try {
      line.say(order);
    } catch (IOException gone) {
      close();
      throw gone;
    }
    return answer();
  }

  /** Passes on what went wrong; a rank that failed by its own fault is the lost one. */
  private RankTalk.Answer answer() throws IOException, RankLostException {
    RankTalk heard;
    try {
      heard = line.hear();
    } catch (IOException gone) {
      close();
      throw gone;
    }
    return switch (heard) {
      case RankTalk.Lost(int other, String reason) -> throw new RankLostException(other, reason);
      case RankTalk.Failed(String reason) -> throw new RankFailedException(reason);
      case RankTalk.Answer answer -> answer;
      case RankTalk other -> throw new IOException("no answer of a rank's: " + other);
    };
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
