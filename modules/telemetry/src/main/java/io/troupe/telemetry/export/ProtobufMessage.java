package io.troupe.telemetry.export;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** A protocol buffer message that is written field by field. */
public final class ProtobufMessage {
  private static final int VARINT = 0;
  private static final int FIXED_64 = 1;
  private static final int BYTES = 2;
  private static final int FIXED_32 = 5;
  private static final int WIRE_TYPE_BITS = 3;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  /** Adds an integer. */
  public ProtobufMessage varint(int field, long value) {
    tag(field, VARINT);
    raw(value);
    return this;
  }

  /** Adds a double. */
  public ProtobufMessage fixed64(int field, double value) {
    tag(field, FIXED_64);
    bytes.writeBytes(
        ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putDouble(value).array());
    return this;
  }

  /** Adds a float. */
  public ProtobufMessage fixed32(int field, float value) {
    tag(field, FIXED_32);
    bytes.writeBytes(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(value).array());
    return this;
  }

  /** Adds bytes. */
  public ProtobufMessage bytes(int field, byte[] value) {
    tag(field, BYTES);
    raw(value.length);
    bytes.writeBytes(value);
    return this;
  }

  /** Adds a text in UTF-8. */
  public ProtobufMessage text(int field, String value) {
    return bytes(field, value.getBytes(StandardCharsets.UTF_8));
  }

  /** Adds a message. */
  public ProtobufMessage message(int field, ProtobufMessage value) {
    return bytes(field, value.toBytes());
  }

  /** Adds the fields of another message. */
  public ProtobufMessage append(ProtobufMessage fields) {
    bytes.writeBytes(fields.toBytes());
    return this;
  }

  /** Returns the encoded message. */
  public byte[] toBytes() {
    return bytes.toByteArray();
  }

  private void tag(int field, int wireType) {
    raw(((long) field << WIRE_TYPE_BITS) | wireType);
  }

  private void raw(long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      bytes.write((int) ((rest & 0x7f) | 0x80));
      rest >>>= 7;
    }
    bytes.write((int) rest);
  }
}
