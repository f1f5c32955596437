package io.troupe.weights.transfer;

import io.troupe.net.link.Connection;
import io.troupe.weights.transfer.StallWatchdog.Watch;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The questions of a connection that are read and not answered yet, the oldest first. A thread
 * reads them, so that a server knows what it will be asked next; while the queue is full it reads
 * none, and the receiver waits.
 */
final class QuestionQueue implements AutoCloseable {
  private final Connection wire;
  private final StallWatchdog guard;
  private final Duration stall;
  private final BlockingQueue<Entry> entries;
  private final Thread reader;

  /**
   * A question.
   *
   * @param request of a {@link TransferProtocol#FETCH}; empty otherwise
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Question(byte operation, byte[] digest, int number, byte[] request) implements Entry {}

  /** An entry of the queue. */
  sealed interface Entry {}

  /** No question follows. */
  private record End(IOException reason) implements Entry {}

  /**
   * Begins to read.
   *
   * @param most questions that are read ahead
   * @param stall time in which the bytes of a request must arrive
   */
  QuestionQueue(Connection wire, int most, StallWatchdog guard, Duration stall) {
    this.wire = wire;
    this.guard = guard;
    this.stall = stall;
    this.entries = new ArrayBlockingQueue<>(most);
    this.reader = Thread.ofPlatform().daemon().name("weights-questions").start(this::read);
  }

  private void read() {
    try {
      IOException end;
      try {
        while (true) {
          entries.put(question());
        }
      } catch (IOException failure) {
        end = failure;
      }
      entries.put(new End(end));
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  private Question question() throws IOException {
    ByteBuffer question = ByteBuffer.allocate(TransferProtocol.QUESTION);
    wire.readFully(question);
    byte operation = question.flip().get();
    byte[] digest = new byte[TransferProtocol.DIGEST];
    question.get(digest);
    int number = question.getInt();
    return new Question(
        operation,
        digest,
        number,
        operation == TransferProtocol.FETCH ? request(number) : new byte[0]);
  }

  private byte[] request(int length) throws IOException {
    if (length < 0 || length > TransferProtocol.MOST_MANIFEST) {
      throw new IOException("a request of " + length + " bytes");
    }
    ByteBuffer request = ByteBuffer.allocate(length);
    try (Watch _ = guard.watch(wire, stall, Long.MAX_VALUE)) {
      wire.readFully(request);
    }
    return request.array();
  }

  /** Waits for the next question. */
  Question await(Duration atMost) throws IOException {
    try {
      Entry next = entries.poll(atMost.toNanos(), TimeUnit.NANOSECONDS);
      if (next == null) {
        throw new EOFException("no question for " + atMost);
      }
      return question(next);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("stopped while it waited for a question");
    }
  }

  /** Returns the next question, if it is here. */
  Optional<Question> next() throws IOException {
    // The end is left in its place: questions before it are still to be answered.
    return entries.peek() instanceof Question
        ? Optional.of(question(entries.remove()))
        : Optional.empty();
  }

  private static Question question(Entry entry) throws IOException {
    return switch (entry) {
      case Question question -> question;
      case End(var reason) -> throw reason;
    };
  }

  /** Ends the thread that reads, with the connection. */
  @Override
  public void close() {
    reader.interrupt();
  }
}
