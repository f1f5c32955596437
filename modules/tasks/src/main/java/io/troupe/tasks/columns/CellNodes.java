package io.troupe.tasks.columns;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BigIntegerNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.NumericNode;
import com.fasterxml.jackson.databind.node.ValueNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;

/**
 * Makes the JSON values of cells. A number has the text that a person would write, whichever format
 * it came through: a whole number has neither exponent nor fraction (12345678 for the double
 * 1.2345678E7), another one its shortest digits without an exponent. Its JSON remains that of a
 * floating-point number (12345678.0), because programs that are tested with it tell 2.0 from 2.
 */
public final class CellNodes extends JsonNodeFactory {
  /** The one factory of all readers. */
  public static final CellNodes INSTANCE = new CellNodes();

  private static final long serialVersionUID = 1;

  /** A number with more places than this on either side of its point keeps its exponent. */
  private static final int MOST_PLACES = 1_000;

  private CellNodes() {}

  /** Returns a number with exactly its digits: the type of a decimal column says how many. */
  static ValueNode decimal(BigDecimal value) {
    return new PlainDecimal(value, value);
  }

  /**
   * Returns a number of this factory in plain notation: 12345678 for 1.2345678E7, 9 for 9.00, 2.50
   * for 2.50.
   */
  public static String plain(JsonNode number) {
    return number instanceof PlainDecimal decimal
        ? shown(decimal.decimalValue()).toPlainString()
        : number.asText();
  }

  /** Returns a whole number whose 64 bits have no sign. */
  static ValueNode unsigned(long bits) {
    return whole(new BigInteger(Long.toUnsignedString(bits)));
  }

  /** Returns the number of 16 bits that a half-precision float is stored in. */
  static ValueNode half(short bits) {
    float value = Float.float16ToFloat(bits);
    if (!Float.isFinite(value)) {
      return DoubleNode.valueOf(value);
    }
    BigDecimal exact = new BigDecimal(value);
    int digits = 1;
    while (Float.floatToFloat16(rounded(exact, digits).floatValue()) != bits && digits < 9) {
      digits++;
    }
    return shortest(rounded(exact, digits));
  }

  private static BigDecimal rounded(BigDecimal value, int digits) {
    return value.round(new MathContext(digits));
  }

  @Override
  public NumericNode numberNode(long value) {
    return (int) value == value ? IntNode.valueOf((int) value) : LongNode.valueOf(value);
  }

  @Override
  public NumericNode numberNode(float value) {
    return Float.isFinite(value)
        ? shortest(new BigDecimal(Float.toString(value)))
        : DoubleNode.valueOf(value);
  }

  @Override
  public NumericNode numberNode(double value) {
    return Double.isFinite(value)
        ? shortest(new BigDecimal(Double.toString(value)))
        : DoubleNode.valueOf(value);
  }

  @Override
  public ValueNode numberNode(BigInteger value) {
    return whole(value);
  }

  @Override
  public ValueNode numberNode(BigDecimal value) {
    return shortest(value);
  }

  private static NumericNode shortest(BigDecimal value) {
    BigDecimal written = value.scale() == 0 ? value.setScale(1) : value;
    if (Math.abs((long) value.scale()) > MOST_PLACES) {
      return DecimalNode.valueOf(value);
    }
    return new PlainDecimal(written, shown(value));
  }

  private static BigDecimal shown(BigDecimal value) {
    boolean whole = value.signum() == 0 || value.stripTrailingZeros().scale() <= 0;
    return whole ? value.setScale(0) : value;
  }

  private static NumericNode whole(BigInteger value) {
    if (value.bitLength() < Integer.SIZE) {
      return IntNode.valueOf(value.intValue());
    }
    return value.bitLength() < Long.SIZE
        ? LongNode.valueOf(value.longValue())
        : BigIntegerNode.valueOf(value);
  }

  /** A decimal number whose text has no exponent. */
  private static final class PlainDecimal extends DecimalNode {
    private static final long serialVersionUID = 1;

    private final BigDecimal shown;

    PlainDecimal(BigDecimal value, BigDecimal shown) {
      super(value);
      this.shown = shown;
    }

    @Override
    public String asText() {
      return shown.toPlainString();
    }
  }
}
