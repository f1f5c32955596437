package io.troupe.engine.http.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SseDecoderTest {
  private static final byte[] STREAM =
      """
      : ping

      data: {"a":"é—漢🎈"}

      event: token
      id: 7
      data:first
      data: second

      : ping
      data: [DONE]

      """
          .getBytes(StandardCharsets.UTF_8);
  private static final List<String> EVENTS =
      List.of("{\"a\":\"é—漢🎈\"}", "first\nsecond", "[DONE]");

  @ParameterizedTest
  @MethodSource("io.troupe.testkit.Seeds#twoHundred")
  void decode_anyChunksAndLineEnds_givesTheSameEvents(long seed) {
    Random random = new Random(seed);
    String end = List.of("\n", "\r\n", "\r").get(random.nextInt(3));
    byte[] bytes =
        new String(STREAM, StandardCharsets.UTF_8)
            .replace("\n", end)
            .getBytes(StandardCharsets.UTF_8);
    SseDecoder decoder = new SseDecoder();
    List<String> events = new ArrayList<>();
    for (int from = 0; from < bytes.length; ) {
      int length = Math.min(bytes.length - from, 1 + random.nextInt(1 + (int) (seed % 9)));
      events.addAll(decoder.decode(ByteBuffer.wrap(bytes, from, length)));
      from += length;
    }
    assertThat(events).isEqualTo(EVENTS);
    assertThat(decoder.midEvent()).isFalse();
  }

  @Test
  void decode_streamCutWithinAnEvent_isMidEvent() {
    SseDecoder decoder = new SseDecoder();
    assertThat(decoder.decode(StandardCharsets.UTF_8.encode("data: {\"ch"))).isEmpty();
    assertThat(decoder.midEvent()).isTrue();
  }
}
