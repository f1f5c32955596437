package io.troupe.ranks.protocol;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.annotation.JsonSerialize;
import com.fasterxml.jackson.databind.util.StdConverter;
import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import io.troupe.core.advantage.AdvantageRule;
import io.troupe.core.advantage.Baseline;
import io.troupe.core.loss.Correction;
import io.troupe.core.loss.Distillation;
import io.troupe.core.loss.Objective;
import io.troupe.core.loss.SequenceMask;
import io.troupe.core.loss.TeacherTokens;
import io.troupe.core.loss.TrainingSequence;
import io.troupe.engine.parallel.RankBatch;
import io.troupe.net.link.Connection;
import io.troupe.net.wire.WireJacksonModule;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.LongAdder;

/**
 * The connection between the coordinator and a rank's process: messages in CBOR and arrays in
 * bytes, each behind its length.
 */
public final class RankConnection implements Closeable {
  private static final ObjectMapper CBOR = mapper();
  private static final long SLICE = 4L << 20;

  private final Connection wire;
  private final LongAdder passed = new LongAdder();

  public RankConnection(Connection wire) {
    this.wire = wire;
  }

  private static ObjectMapper mapper() {
    ObjectMapper mapper =
        CBORMapper.builder()
            .addModule(new WireJacksonModule())
            .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
            .build();
    for (Class<?> sealed :
        new Class<?>[] {
          RankProtocol.class,
          RankBatch.class,
          Objective.class,
          Correction.class,
          SequenceMask.class,
          Distillation.class
        }) {
      mapper.addMixIn(sealed, ByName.class);
    }
    mapper.addMixIn(AdvantageRule.class, AsBaseline.class);
    return mapper.addMixIn(TrainingSequence.class, AsRecord.class);
  }

  /** Both sides are of one build, and Jackson takes subtypes of a sealed type only. */
  @JsonTypeInfo(use = JsonTypeInfo.Id.MINIMAL_CLASS)
  private interface ByName {}

  /** Ranks get advantages, not rewards; a user's own loss is not sent to processes. */
  @JsonDeserialize(as = Baseline.class)
  private interface AsBaseline {}

  @JsonSerialize(converter = ToRecord.class)
  @JsonDeserialize(converter = FromRecord.class)
  private interface AsRecord {}

  /** A sequence's fields, by name. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Sequence(
      int[] prompt,
      int[] completion,
      float[] behaviour,
      float[] weights,
      double advantage,
      int[] staleness,
      TeacherTokens teacher,
      double teacherWeight) {}

  static final class ToRecord extends StdConverter<TrainingSequence, Sequence> {
    @Override
    public Sequence convert(TrainingSequence s) {
      return new Sequence(
          s.prompt(),
          s.completion(),
          s.behaviourLogProbs(),
          s.lossWeights(),
          s.advantage(),
          s.staleness(),
          s.teacher(),
          s.teacherWeight());
    }
  }

  static final class FromRecord extends StdConverter<Sequence, TrainingSequence> {
    @Override
    public TrainingSequence convert(Sequence s) {
      return new TrainingSequence(s.prompt, s.completion, s.behaviour, s.weights, s.advantage)
          .sampledBehind(s.staleness)
          .withTeacher(s.teacher)
          .withTeacherWeight(s.teacherWeight);
    }
  }

  public void send(RankProtocol message) throws IOException {
    byte[] bytes = CBOR.writerFor(RankProtocol.class).writeValueAsBytes(message);
    writeLength(bytes.length);
    wire.write(ByteBuffer.wrap(bytes));
    count(bytes.length);
  }

  /** Returns the bytes that were sent and received. */
  public long bytes() {
    return passed.sum();
  }

  private void count(long payload) {
    passed.add(Long.BYTES + payload);
  }

  public RankProtocol receive() throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(length()));
    wire.readFully(bytes);
    count(bytes.capacity());
    return CBOR.readValue(bytes.array(), RankProtocol.class);
  }

  /** Sends an array. */
  public void send(MemorySegment array) throws IOException {
    writeLength(array.byteSize());
    for (long from = 0; from < array.byteSize(); from += SLICE) {
      wire.write(array.asSlice(from, Math.min(SLICE, array.byteSize() - from)).asByteBuffer());
    }
    count(array.byteSize());
  }

  /** Takes an array, into memory of an arena that several threads may use. */
  public MemorySegment receiveArray(Arena arena) throws IOException {
    MemorySegment array = arena.allocate(length(), Long.BYTES);
    for (long from = 0; from < array.byteSize(); from += SLICE) {
      wire.readFully(array.asSlice(from, Math.min(SLICE, array.byteSize() - from)).asByteBuffer());
    }
    count(array.byteSize());
    return array;
  }

  /** Sends a file, from its beginning. */
  public void send(FileChannel file) throws IOException {
    long size = file.size();
    writeLength(size);
    for (long sent = 0; sent < size; ) {
      sent += wire.send(file, sent, size - sent);
    }
    count(size);
  }

  /** Takes the parts of a file; must leave nothing of it in the buffer. */
  interface Sink {
    void take(ByteBuffer bytes);
  }

  /** Takes a file, piece by piece. */
  void receiveFile(Sink sink) throws IOException {
    ByteBuffer slice = ByteBuffer.allocateDirect(Math.toIntExact(SLICE));
    long size = length();
    count(size);
    for (long left = size; left > 0; left -= slice.limit()) {
      wire.readFully(slice.clear().limit(Math.toIntExact(Math.min(SLICE, left))));
      sink.take(slice.flip());
    }
  }

  private long length() throws IOException {
    ByteBuffer length = ByteBuffer.allocate(Long.BYTES);
    wire.readFully(length);
    return length.flip().getLong();
  }

  private void writeLength(long length) throws IOException {
    wire.write(ByteBuffer.allocate(Long.BYTES).putLong(length).flip());
  }

  @Override
  public void close() throws IOException {
    wire.close();
  }
}
