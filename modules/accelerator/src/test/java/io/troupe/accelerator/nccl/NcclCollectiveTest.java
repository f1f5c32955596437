package io.troupe.accelerator.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.troupe.accelerator.host.HostStandIn;
import io.troupe.engine.parallel.Collective;
import io.troupe.engine.parallel.RankLostException;
import io.troupe.engine.parallel.Span;
import io.troupe.engine.safetensors.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** NCCL's binding over a stand-in whose device memory is the host's. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NcclCollectiveTest {
  private static final Duration PATIENT = Duration.ofSeconds(30);

  @TempDir private static Path folder;
  private static Optional<Path> compiled = Optional.empty();

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private NcclCollective.@Nullable Libraries opened;

  @BeforeAll
  static void compile() throws Exception {
    compiled = HostStandIn.compile(folder);
  }

  @BeforeEach
  void open() {
    assumeTrue(compiled.isPresent(), "no C compiler (cc) on this host to build the stand-in with");
    opened = open(compiled.get());
    String _ = calls();
  }

  private NcclCollective.Libraries libraries() {
    return Objects.requireNonNull(opened);
  }

  @AfterEach
  void end() {
    threads.shutdownNow();
  }

  private static NcclCollective.Libraries open(Path file) {
    return new NcclCollective.Libraries(NcclLibrary.open(file), CudaRuntime.open(file));
  }

  /** Returns the calls of the stand-in since the last question. */
  @SuppressWarnings("restricted") // a function of the stand-in
  private String calls() {
    try {
      MemorySegment text =
          (MemorySegment)
              Linker.nativeLinker()
                  .downcallHandle(
                      SymbolLookup.libraryLookup(compiled.orElseThrow(), Arena.global())
                          .findOrThrow("fake_calls"),
                      FunctionDescriptor.of(ValueLayout.ADDRESS))
                  .invokeExact();
      return text.reinterpret(1 << 16).getString(0);
    } catch (Throwable impossible) {
      throw new AssertionError(impossible);
    }
  }

  private interface Work<T> {
    T of(Collective ranks) throws Exception;
  }

  private <T> List<Future<T>> start(int size, Duration deadline, Work<T> work) {
    NcclUniqueId id = libraries().nccl().newUniqueId();
    List<Future<T>> ranks = new ArrayList<>();
    for (int r = 0; r < size; r++) {
      int rank = r;
      ranks.add(
          threads.submit(
              () -> {
                try (Collective group =
                    NcclCollective.join(libraries(), id, rank, size, deadline)) {
                  return work.of(group);
                }
              }));
    }
    return ranks;
  }

  private static Span span(Arena arena, Span.Element element, long count) {
    MemorySegment memory = arena.allocate(count * element.bytes(), 64);
    return Span.onDevice(memory.address(), memory.byteSize(), element);
  }

  @SuppressWarnings("restricted") // the stand-in's device memory is the host's
  private static MemorySegment memory(Span span) {
    return MemorySegment.ofAddress(span.address()).reinterpret(span.bytes());
  }

  private static void put(Span span, long index, float value) {
    switch (span.element()) {
      case F32 -> memory(span).setAtIndex(ValueLayout.JAVA_FLOAT, index, value);
      case F64 -> memory(span).setAtIndex(ValueLayout.JAVA_DOUBLE, index, value);
      case BF16 -> memory(span).setAtIndex(ValueLayout.JAVA_SHORT, index, DType.bfloat16(value));
      case U8 -> memory(span).setAtIndex(ValueLayout.JAVA_BYTE, index, (byte) value);
    }
  }

  private static double get(Span span, long index) {
    return switch (span.element()) {
      case F32 -> memory(span).getAtIndex(ValueLayout.JAVA_FLOAT, index);
      case F64 -> memory(span).getAtIndex(ValueLayout.JAVA_DOUBLE, index);
      case BF16 ->
          Float.intBitsToFloat(memory(span).getAtIndex(ValueLayout.JAVA_SHORT, index) << 16);
      case U8 -> memory(span).getAtIndex(ValueLayout.JAVA_BYTE, index);
    };
  }

  /** All operations, over more than one slot of the stand-in. */
  private static boolean exchange(Collective ranks, Span.Element element) throws Exception {
    int size = ranks.size();
    int piece = 150_001;
    double sum = size * (size - 1) / 2.0;
    try (Arena arena = Arena.ofConfined()) {
      Span all = span(arena, element, (long) piece * size);
      Span own = span(arena, element, piece);
      for (int i = 0; i < all.count(); i++) {
        put(all, i, i % 20 + ranks.rank());
      }
      ranks.reduceScatter(all, own);
      for (int i = 0; i < piece; i++) {
        assertThat(get(own, i)).isEqualTo((ranks.rank() * piece + i) % 20 * size + sum);
      }
      ranks.allGather(own, all);
      for (int i = 0; i < all.count(); i++) {
        assertThat(get(all, i)).isEqualTo(i % 20 * size + sum);
      }
      put(own, 0, ranks.rank());
      ranks.allReduce(own.slice(0, 1));
      assertThat(get(own, 0)).isEqualTo(sum);
      put(own, piece - 1, ranks.rank());
      ranks.broadcast(own, size - 1);
      assertThat(get(own, piece - 1)).isEqualTo(size - 1);
      double[] numbers = {1, ranks.rank()};
      ranks.allReduce(numbers);
      assertThat(numbers).containsExactly(size, sum);
      ranks.barrier();
      return true;
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3})
  void exchanges_everyElementType_giveTheSumsAndThePieces(int size) throws Exception {
    for (Span.Element element : List.of(Span.Element.F32, Span.Element.F64, Span.Element.BF16)) {
      for (Future<Boolean> rank : start(size, PATIENT, each -> exchange(each, element))) {
        assertThat(rank.get(60, TimeUnit.SECONDS)).isTrue();
      }
    }
    assertThat(calls()).doesNotContain("AFTER ITS END");
  }

  /** The numbers of types and operations are NCCL's; the stream is the group's own. */
  @Test
  void calls_ofOneRank_areInOrderWithNcclsNumbers() throws Exception {
    NcclUniqueId id = libraries().nccl().newUniqueId();
    try (Arena arena = Arena.ofConfined();
        Collective group = NcclCollective.join(libraries(), id, 0, 1, PATIENT)) {
      group.reduceScatter(span(arena, Span.Element.F32, 6), span(arena, Span.Element.F32, 6));
      Span weights = span(arena, Span.Element.BF16, 6);
      group.allGather(weights, weights);
      group.broadcast(span(arena, Span.Element.U8, 77), 0);
      group.allReduce(span(arena, Span.Element.F64, 3));
      group.barrier();
    }
    assertThat(calls().lines())
        .containsExactly(
            "ncclGetUniqueId",
            "cudaStreamCreateWithFlags 1",
            "ncclCommInitRank size=1 rank=0 non-blocking",
            "ncclReduceScatter count=6 type=7 root=0 stream=own",
            "ncclAllGather count=6 type=9 root=0 stream=own",
            "ncclBroadcast count=77 type=1 root=0 stream=own",
            "ncclAllReduce count=3 type=8 root=0 stream=own",
            "cudaMemcpyAsync 8 kind=4",
            "ncclAllReduce count=1 type=8 root=0 stream=own",
            "cudaMemcpyAsync 8 kind=4",
            "ncclCommDestroy",
            "cudaStreamDestroy");
  }

  @Test
  void abort_fromAnotherThread_endsTheWaitWithinASecond() throws Exception {
    CountDownLatch waits = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    List<Collective> stuck = new ArrayList<>();
    List<Future<Boolean>> ranks =
        start(
            2,
            PATIENT,
            each -> {
              if (each.rank() == 1) {
                end.await();
                return true;
              }
              stuck.add(each);
              waits.countDown();
              assertThatThrownBy(each::barrier)
                  .hasMessage("trainer rank 0 is lost: it aborted its group");
              assertThatThrownBy(each::barrier)
                  .hasMessage("trainer rank 0 is lost: it aborted its group");
              return true;
            });
    try {
      waits.await();
      long aborted = System.nanoTime();
      stuck.getFirst().abort();
      assertThat(ranks.getFirst().get(60, TimeUnit.SECONDS)).isTrue();
      assertThat(Duration.ofNanos(System.nanoTime() - aborted)).isLessThan(Duration.ofSeconds(1));
    } finally {
      end.countDown();
    }
    assertThat(ranks.getLast().get(60, TimeUnit.SECONDS)).isTrue();
    assertThat(calls()).contains("ncclCommAbort").doesNotContain("AFTER ITS END");
  }

  @Test
  void barrier_otherRankAborts_isARemoteError() throws Exception {
    List<Future<Boolean>> ranks =
        start(
            2,
            PATIENT,
            each -> {
              if (each.rank() == 1) {
                each.abort();
              } else {
                each.barrier();
              }
              return true;
            });
    assertThat(ranks.getLast().get(60, TimeUnit.SECONDS)).isTrue();
    assertLost(
        ranks.getFirst(),
        "NCCL reports remote process exited or network error (6); it does not name the rank");
    assertThat(calls()).doesNotContain("AFTER ITS END");
  }

  @Test
  void barrier_silentRank_isLostAtTheDeadline() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    List<Future<Boolean>> ranks =
        start(
            2,
            Duration.ofMillis(700),
            each -> {
              if (each.rank() == 1) {
                end.await();
              } else {
                each.barrier();
              }
              return true;
            });
    try {
      assertLost(ranks.getFirst(), "a rank did not take part for PT0.7S; NCCL does not name it");
    } finally {
      end.countDown();
    }
  }

  @Test
  void join_rankThatNeverComes_isLostAtTheDeadline() {
    NcclUniqueId id = libraries().nccl().newUniqueId();
    assertThatThrownBy(() -> NcclCollective.join(libraries(), id, 0, 2, Duration.ofMillis(200)))
        .isInstanceOf(RankLostException.class)
        .hasMessage(
            "trainer rank 1 is lost: a rank did not join the group for PT0.2S; NCCL does not name it");
    assertThat(calls()).contains("ncclCommAbort").doesNotContain("AFTER ITS END");
  }

  @Test
  @SuppressWarnings("restricted") // a function of the stand-in
  void join_otherVersionOfNccl_isRefusedWithTheRemedy() throws Throwable {
    Path copy = Files.copy(compiled.orElseThrow(), folder.resolve("libnewer.so"));
    NcclCollective.Libraries newer = open(copy);
    Linker.nativeLinker()
        .downcallHandle(
            SymbolLookup.libraryLookup(copy, Arena.global()).findOrThrow("fake_set_version"),
            FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT))
        .invokeWithArguments(22809);
    assertThat(newer.nccl().version()).isEqualTo("2.28.9");
    NcclUniqueId id = libraries().nccl().newUniqueId();
    Future<NcclCollective> other =
        threads.submit(() -> NcclCollective.join(newer, id, 1, 2, PATIENT));
    assertThatThrownBy(() -> NcclCollective.join(libraries(), id, 0, 2, PATIENT))
        .hasMessage(
            "trainer rank 1 is lost: NCCL refuses the group: invalid usage (5): Mismatched NCCL"
                + " version detected; all ranks and inference servers must load one NCCL, this one"
                + " is 2.30.7 of %s: point VLLM_NCCL_SO_PATH at the same file everywhere, and give each rank a GPU",
            compiled.orElseThrow());
    assertLost(other, "this one is 2.28.9 of " + copy);
  }

  private static void assertLost(Future<?> rank, String reason) {
    assertThatThrownBy(() -> rank.get(60, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(RankLostException.class)
        .hasMessageContaining(reason);
  }

  @Test
  void setDevice_thatDoesNotExist_failsInCudasWords() {
    assertThat(libraries().cuda().devices()).isEqualTo(1);
    assertThatThrownBy(() -> libraries().cuda().setDevice(3))
        .hasMessage("cudaSetDevice: invalid device ordinal (101)");
  }

  @Test
  void open_libraryOfAnotherKind_namesWhatItLacks() throws Exception {
    Path text = Files.writeString(folder.resolve("text.so"), "no library");
    assertThatThrownBy(() -> NcclLibrary.open(text)).hasMessageContaining(" cannot be loaded: ");
    Path libm = Path.of("/lib/x86_64-linux-gnu/libm.so.6");
    assumeTrue(Files.exists(libm), "no libm where Debian has it");
    assertThatThrownBy(() -> NcclLibrary.open(libm))
        .hasMessage(libm + " has no function ncclGetVersion; take the library of a newer PyTorch");
  }

  /** A path of NCCL up to the first need of a GPU. */
  @Test
  void realLibrary_hostWithoutGpu_answersAndRefusesTheGroup() {
    String named = Optional.ofNullable(System.getenv("VLLM_NCCL_SO_PATH")).orElse("");
    assumeTrue(!named.isEmpty(), "VLLM_NCCL_SO_PATH names no libnccl.so.2");
    NcclLibrary nccl = NcclLibrary.open(Path.of(named));
    assertThat(nccl.versionCode()).isGreaterThanOrEqualTo(21_800);
    NcclUniqueId id = nccl.newUniqueId();
    assertThat(id.bytes()).isNotEqualTo(new byte[NcclUniqueId.BYTES]);
    assumeTrue(!Files.exists(Path.of("/dev/nvidia0")), "this host has a GPU");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment communicator = arena.allocate(ValueLayout.ADDRESS);
      assertThat(nccl.beginJoin(communicator, 1, id, 0)).isEqualTo(NcclResult.CUDA_ERROR);
    }
  }
}
