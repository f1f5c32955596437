package io.troupe.gym.arithmetic;

import io.troupe.gym.item.GymItem;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One subskill of arithmetic: an operation on two numbers of two digits, distinguished by what
 * happens in the units, or the reversal of four digits.
 *
 * <p>Answers are written with their least significant digit first, as one adds by hand: {@code
 * 37+45=} is answered {@code 280}.
 */
public enum ArithmeticLeaf {
  ADD_NOCARRY(0, "add", "nocarry"),
  ADD_CARRY(1, "add", "carry"),
  SUB_NOBORROW(2, "sub", "noborrow"),
  SUB_BORROW(3, "sub", "borrow"),
  REVERSE_DIGITS(4, "reverse", "digits");

  /** Every character of a prompt or answer. */
  static final String ALPHABET = "0123456789+-r=";

  private static final int NUMBERS = 100;
  private static final int SEQUENCES = 10_000;

  private final int number;
  private final String skill;
  private final String subskill;

  ArithmeticLeaf(int number, String skill, String subskill) {
    this.number = number;
    this.skill = skill;
    this.subskill = subskill;
  }

  /** Returns the path, such as {@code sub/borrow}. */
  public String path() {
    return skill + "/" + subskill;
  }

  /** Returns a number that no other leaf has, for seeds. */
  int number() {
    return number;
  }

  String skill() {
    return skill;
  }

  String subskill() {
    return subskill;
  }

  /** Returns all items, each once: a sum of two numbers is one item in either order. */
  List<GymItem> items() {
    List<GymItem> items = new ArrayList<>();
    if (this == REVERSE_DIGITS) {
      for (int number = 0; number < SEQUENCES; number++) {
        String digits = String.format(Locale.ROOT, "%04d", number);
        items.add(item(digits, "r" + digits + "=", new StringBuilder(digits).reverse().toString()));
      }
      return items;
    }
    for (int a = 0; a < NUMBERS; a++) {
      for (int b = 0; b < NUMBERS; b++) {
        if (holds(a, b)) {
          boolean sum = skill.equals("add");
          String text = String.format(Locale.ROOT, "%02d%s%02d", a, sum ? "+" : "-", b);
          items.add(item(text, text + "=", written(sum ? a + b : a - b)));
        }
      }
    }
    return items;
  }

  private boolean holds(int a, int b) {
    int units = a % 10;
    int others = b % 10;
    return switch (this) {
      case ADD_NOCARRY -> a <= b && units + others < 10;
      case ADD_CARRY -> a <= b && units + others >= 10;
      case SUB_NOBORROW -> a >= b && units >= others;
      case SUB_BORROW -> a >= b && units < others;
      case REVERSE_DIGITS -> false;
    };
  }

  private GymItem item(String id, String prompt, String answer) {
    return new GymItem(id, skill, subskill, prompt, answer);
  }

  private static String written(int number) {
    return new StringBuilder(String.format(Locale.ROOT, "%03d", number)).reverse().toString();
  }
}
