package io.troupe.net.wire;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Arrays of four-byte numbers as one run of little-endian bytes: smaller than a list of numbers,
 * and copied instead of parsed.
 */
final class PackedArrays {
  private PackedArrays() {}

  private static ByteBuffer over(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static ByteBuffer read(JsonParser parser) throws IOException {
    byte[] bytes = parser.getBinaryValue();
    if (bytes.length % Integer.BYTES != 0) {
      throw new IOException(
          "an array of four-byte numbers cannot have %d bytes".formatted(bytes.length));
    }
    return over(bytes);
  }

  static final class IntsOut extends StdSerializer<int[]> {
    private static final long serialVersionUID = 1L;

    IntsOut() {
      super(int[].class);
    }

    @Override
    public void serialize(int[] numbers, JsonGenerator out, SerializerProvider provider)
        throws IOException {
      byte[] bytes = new byte[Integer.BYTES * numbers.length];
      over(bytes).asIntBuffer().put(numbers);
      out.writeBinary(bytes);
    }
  }

  static final class IntsIn extends StdDeserializer<int[]> {
    private static final long serialVersionUID = 1L;

    IntsIn() {
      super(int[].class);
    }

    @Override
    public int[] deserialize(JsonParser parser, DeserializationContext context) throws IOException {
      ByteBuffer bytes = read(parser);
      int[] numbers = new int[bytes.remaining() / Integer.BYTES];
      bytes.asIntBuffer().get(numbers);
      return numbers;
    }
  }

  static final class FloatsOut extends StdSerializer<float[]> {
    private static final long serialVersionUID = 1L;

    FloatsOut() {
      super(float[].class);
    }

    @Override
    public void serialize(float[] numbers, JsonGenerator out, SerializerProvider provider)
        throws IOException {
      byte[] bytes = new byte[Float.BYTES * numbers.length];
      over(bytes).asFloatBuffer().put(numbers);
      out.writeBinary(bytes);
    }
  }

  static final class FloatsIn extends StdDeserializer<float[]> {
    private static final long serialVersionUID = 1L;

    FloatsIn() {
      super(float[].class);
    }

    @Override
    public float[] deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      ByteBuffer bytes = read(parser);
      float[] numbers = new float[bytes.remaining() / Float.BYTES];
      bytes.asFloatBuffer().get(numbers);
      return numbers;
    }
  }
}
