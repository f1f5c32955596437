package io.troupe.store.file;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import java.io.IOException;

/**
 * The JSON of every file this module writes: numbers that are not finite become null, and what is
 * missing from an object is an error.
 */
public final class StoreJson {
  /** Writes one line without spaces. */
  public static final ObjectMapper LINE = mapper().build();

  /** Indented, for people. */
  public static final ObjectMapper PRETTY =
      mapper().enable(SerializationFeature.INDENT_OUTPUT).build();

  private StoreJson() {}

  private static JsonMapper.Builder mapper() {
    SimpleModule numbers = new SimpleModule();
    FiniteOrNull finite = new FiniteOrNull();
    numbers.addSerializer(Double.class, finite).addSerializer(double.class, finite);
    numbers.addSerializer(Float.class, finite).addSerializer(float.class, finite);
    return JsonMapper.builder()
        .addModule(numbers)
        .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
        .enable(DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
        .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES);
  }

  /** JSON has no NaN and no infinity; a quoted word would change the type of a column. */
  private static final class FiniteOrNull extends StdSerializer<Number> {
    private static final long serialVersionUID = 1L;

    FiniteOrNull() {
      super(Number.class);
    }

    @Override
    public void serialize(Number number, JsonGenerator out, SerializerProvider provider)
        throws IOException {
      if (!Double.isFinite(number.doubleValue())) {
        out.writeNull();
      } else if (number instanceof Float single) {
        out.writeNumber(single.floatValue());
      } else {
        out.writeNumber(number.doubleValue());
      }
    }
  }
}
