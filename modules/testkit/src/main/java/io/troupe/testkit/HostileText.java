package io.troupe.testkit;

import java.util.Random;

/** Completions that no person would write, but a policy may. */
public final class HostileText {
  private static final String[] PIECES = {
    "The answer is ",
    "The answer is",
    "-",
    "--",
    ".",
    "..",
    ",",
    "$",
    "18",
    "1,2",
    "0",
    "+",
    "e9",
    "\u0000",
    "\u2212",
    "\u0661",
    "\u00a0",
    "\u2028",
    "\ud83d",
    "\n",
    " ",
    "####",
    "\\boxed{",
    "-0"
  };

  private HostileText() {}

  /** Random pieces, or random UTF-16 units, up to 400 of them. */
  public static String random(Random random) {
    StringBuilder text = new StringBuilder();
    boolean pieces = random.nextBoolean();
    int length = random.nextInt(400);
    for (int i = 0; i < length; i++) {
      if (pieces) {
        text.append(PIECES[random.nextInt(PIECES.length)]);
      } else {
        text.append((char) random.nextInt(1 << 16));
      }
    }
    return text.toString();
  }

  /** About a million characters that are costly for a careless reader. */
  public static String[] large() {
    int million = 1_000_000;
    return new String[] {
      "9".repeat(million),
      "0".repeat(million) + "18",
      ".".repeat(million),
      "-".repeat(million),
      "$".repeat(million),
      "1,".repeat(million / 2),
      "The answer is ".repeat(million / 14),
      "The answer is 1".repeat(million / 15),
      "The answer is " + "1".repeat(million),
      "The answer is " + "1".repeat(million) + ".",
      "The answer is " + ".".repeat(million) + "x",
      "-5".repeat(million / 2),
      " ".repeat(million),
      " ".repeat(million) + "x",
    };
  }
}
