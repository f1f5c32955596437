package io.troupe.engine.http.score;

import static io.troupe.core.Require.require;

import io.troupe.engine.Scorer;
import io.troupe.engine.Tokenizer;
import io.troupe.engine.http.client.InferenceCallException;
import io.troupe.engine.http.client.InferenceEndpoint;
import io.troupe.engine.http.protocol.CallFailure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A teacher model behind one or more servers. A sequence goes to the least busy server, and to
 * another one when that server fails; while no server answers, the caller waits.
 *
 * <p>A server that has failed is checked again before its next score, and its scores of the same
 * tokens must equal its earlier ones: a different model at the same address never becomes the
 * teacher.
 */
public final class HttpTeacher implements Scorer {
  private static final Logger LOG = LoggerFactory.getLogger(HttpTeacher.class);
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private final List<TeacherServer> places;
  private final Duration patience;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final AtomicBoolean waiting = new AtomicBoolean();

  private HttpTeacher(List<TeacherServer> places, Duration patience) {
    this.places = List.copyOf(places);
    this.patience = patience;
  }

  /** One server; it has no scorer while it is unavailable. */
  private static final class TeacherServer {
    private final InferenceEndpoint endpoint;
    private final ScorerCheck.CheckInput matter;
    private final double[] fingerprint;
    private final AtomicInteger asked = new AtomicInteger();
    private Optional<HttpScorer> scorer; // guarded by this

    TeacherServer(InferenceEndpoint endpoint, ScorerCheck.CheckInput matter, HttpScorer scorer) {
      this.endpoint = endpoint;
      this.matter = matter;
      this.fingerprint = scorer.fingerprint();
      this.scorer = Optional.of(scorer);
    }

    Scores score(int[] tokens, int topK) throws InterruptedException {
      asked.incrementAndGet();
      try {
        HttpScorer present = present();
        try {
          return present.score(tokens, topK);
        } catch (InferenceCallException failed) {
          if (!refuses(failed)) {
            lost(present);
          }
          throw failed;
        }
      } finally {
        asked.decrementAndGet();
      }
    }

    private synchronized HttpScorer present() throws InterruptedException {
      if (scorer.isEmpty()) {
        HttpScorer again = reopened();
        Optional<String> other = ScorerCheck.difference(fingerprint, again.fingerprint());
        if (other.isPresent()) {
          again.close();
          throw new InferenceCallException(
              endpoint,
              CallFailure.of(
                  CallFailure.Kind.UNEXPECTED,
                  "it came back as another model, which says " + other.get()));
        }
        LOG.info("teacher={} is back", endpoint);
        scorer = Optional.of(again);
      }
      return scorer.get();
    }

    private HttpScorer reopened() throws InterruptedException {
      try {
        return HttpScorer.open(endpoint, matter);
      } catch (InferenceCallException notYet) {
        throw new InferenceCallException(
            endpoint,
            CallFailure.of(CallFailure.Kind.NO_ANSWER, "it is not back: " + notYet.fault()));
      }
    }

    private synchronized void lost(HttpScorer which) {
      if (scorer.filter(present -> present == which).isPresent()) {
        scorer = Optional.empty();
        which.close();
      }
    }

    synchronized void close() {
      scorer.ifPresent(HttpScorer::close);
    }
  }

  /**
   * Opens all servers and checks each against the requirements of a teacher.
   *
   * @param tokenizer the tokenizer of the policy
   * @param contextLength most tokens of its sequences
   * @param topK number of the most likely tokens that are requested at each position
   * @param patience time for which a score waits while no server answers
   * @throws InferenceCallException if a server cannot teach; the message says why
   */
  public static HttpTeacher open(
      List<InferenceEndpoint> endpoints,
      Tokenizer tokenizer,
      int contextLength,
      int topK,
      Duration patience)
      throws InterruptedException {
    require(!endpoints.isEmpty(), "a teacher has at least one server");
    ScorerCheck.CheckInput matter = ScorerCheck.CheckInput.of(tokenizer, contextLength, topK);
    List<TeacherServer> places = new ArrayList<>();
    boolean all = false;
    try {
      for (InferenceEndpoint endpoint : endpoints) {
        TeacherServer place =
            new TeacherServer(endpoint, matter, HttpScorer.open(endpoint, matter));
        places.add(place);
        Optional<String> other =
            ScorerCheck.difference(places.getFirst().fingerprint, place.fingerprint);
        if (other.isPresent()) {
          throw new InferenceCallException(
              endpoint,
              CallFailure.of(
                  CallFailure.Kind.UNEXPECTED,
                  "it serves another model than %s: they say %s"
                      .formatted(endpoints.getFirst(), other.get())));
        }
      }
      all = true;
      return new HttpTeacher(places, patience);
    } finally {
      if (!all) {
        places.forEach(TeacherServer::close);
      }
    }
  }

  /** Returns the number of servers. */
  public int servers() {
    return places.size();
  }

  /**
   * Scores a sequence; waits while no server answers.
   *
   * @throws InferenceCallException if no server answered within the patience, or a server refuses
   *     the sequence
   */
  @Override
  public Scores score(int[] tokens, int topK) {
    long deadline = System.nanoTime() + patience.toNanos();
    try {
      while (true) {
        InferenceCallException away;
        try {
          Scores scores = anywhere(tokens, topK);
          waiting.set(false);
          return scores;
        } catch (InferenceCallException failed) {
          away = failed;
        }
        if (refuses(away) || closed.getCount() == 0) {
          throw away;
        }
        if (System.nanoTime() > deadline) {
          throw silent(away);
        }
        if (waiting.compareAndSet(false, true)) {
          LOG.warn("no teacher answers, the step waits up to {}: {}", patience, away.getMessage());
        }
        var _ = closed.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
      throw new InferenceCallException(
          places.getFirst().endpoint, CallFailure.of(CallFailure.Kind.NO_ANSWER, "interrupted"));
    }
  }

  private InferenceCallException silent(InferenceCallException last) {
    return new InferenceCallException(
        places.getFirst().endpoint,
        CallFailure.of(
            CallFailure.Kind.NO_ANSWER,
            "the teacher did not answer for %d s; start it again, and go on with the run (%s)"
                .formatted(patience.toSeconds(), last.fault().message())));
  }

  /** Whether a retry would fail in the same way. */
  private static boolean refuses(InferenceCallException failure) {
    return failure.fault().kind() == CallFailure.Kind.BAD_REQUEST
        || failure.fault().kind() == CallFailure.Kind.MALFORMED;
  }

  /**
   * The servers by load, least busy first. The load is read once for each server, because it must
   * not change during the sort.
   */
  private List<TeacherServer> byLoad() {
    Map<TeacherServer, Integer> asked = new HashMap<>();
    places.forEach(place -> asked.put(place, place.asked.get()));
    return places.stream().sorted(Comparator.comparing(asked::get)).toList();
  }

  private Scores anywhere(int[] tokens, int topK) throws InterruptedException {
    Optional<InferenceCallException> last = Optional.empty();
    for (TeacherServer place : byLoad()) {
      try {
        return place.score(tokens, topK);
      } catch (InferenceCallException failed) {
        if (refuses(failed)) {
          throw failed;
        }
        last = Optional.of(failed);
      }
    }
    throw last.orElseThrow();
  }

  @Override
  public void close() {
    closed.countDown();
    places.forEach(TeacherServer::close);
  }
}
