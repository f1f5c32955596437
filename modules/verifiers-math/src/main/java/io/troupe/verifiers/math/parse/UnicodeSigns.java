package io.troupe.verifiers.math.parse;

import java.text.Normalizer;
import java.util.HashMap;
import java.util.Map;

/** What the characters beyond ASCII mean in mathematics, written as LaTeX. */
final class UnicodeSigns {
  private static final String RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵏᵐᵗˣʸᵃᵇ";
  private static final String RAISED_AS = "0123456789+-=()nikmtxyab";
  private static final String LOWERED = "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₖₘₓₐₑᵢⱼₜₚ";
  private static final String LOWERED_AS = "0123456789+-=()nkmxaeijtp";

  /** A sign and its LaTeX, in turns. */
  private static final String[] SIGNS = {
    "−‐‑‒–—﹣－➖⎯", "-",
    "×✕✖⨯⨉", "\\times ",
    "·⋅∙•∗⋆", "\\cdot ",
    "÷➗", "\\div ",
    "∕⁄／", "/",
    "√", "\\sqrt ",
    "∛", "\\sqrt[3] ",
    "∜", "\\sqrt[4] ",
    "∞", "\\infty ",
    "°º˚", "^\\circ ",
    "℃", "^\\circ C",
    "℉", "^\\circ F",
    "≤⩽≦", "\\le ",
    "≥⩾≧", "\\ge ",
    "≠", "\\ne ",
    "≈≃", "\\approx ",
    "≅", "\\cong ",
    "≡", "\\equiv ",
    "∼", "\\sim ",
    "±", "\\pm ",
    "∓", "\\mp ",
    "∪", "\\cup ",
    "∩", "\\cap ",
    "∖", "\\setminus ",
    "∈", "\\in ",
    "∉", "\\notin ",
    "⊂", "\\subset ",
    "⊆", "\\subseteq ",
    "∅⌀", "\\emptyset ",
    "ℝ", "\\mathbb{R}",
    "ℤ", "\\mathbb{Z}",
    "ℕ", "\\mathbb{N}",
    "ℚ", "\\mathbb{Q}",
    "ℂ", "\\mathbb{C}",
    "…⋯", "\\ldots ",
    "⌊", "\\lfloor ",
    "⌋", "\\rfloor ",
    "⌈", "\\lceil ",
    "⌉", "\\rceil ",
    "⟨〈", "\\langle ",
    "⟩〉", "\\rangle ",
    "∥", "\\parallel ",
    "‖", "\\|",
    "⊥⟂", "\\perp ",
    "∠", "\\angle ",
    "△∆", "\\triangle ",
    "∣", "\\mid ",
    "∴", "\\therefore ",
    "⇒⟹", "\\implies ",
    "→", "\\to ",
    "∑", "\\sum ",
    "∏", "\\prod ",
    "∫", "\\int ",
    "∂", "\\partial ",
    "□■∎", "\\square ",
    "✓✔", "\\checkmark ",
    "¢", "\\text{ cents}",
    "€", "\\text{euros}",
    "£", "\\text{pounds}",
    "₹", "\\text{rupees}",
    "¥￥", "\\text{yen}",
    "₩", "\\text{won}",
    "₽", "\\text{rubles}",
    "Ω", "\\Omega ",
    "’′‘ʹ", "'",
    "″", "''",
    "“”", "",
    "\u0305", "\u0305"
  };

  private static final String[] FRACTIONS = {
    "½1/2", "⅓1/3", "⅔2/3", "¼1/4", "¾3/4", "⅕1/5", "⅖2/5", "⅗3/5", "⅘4/5", "⅙1/6", "⅚5/6", "⅐1/7",
    "⅛1/8", "⅜3/8", "⅝5/8", "⅞7/8", "⅑1/9", "⅒1/10", "↉0/3"
  };

  private static final String[] GREEK = {
    "αalpha",
    "βbeta",
    "γgamma",
    "δdelta",
    "εepsilon",
    "ϵepsilon",
    "ζzeta",
    "ηeta",
    "θtheta",
    "ιiota",
    "κkappa",
    "λlambda",
    "μmu",
    "µmu",
    "νnu",
    "ξxi",
    "πpi",
    "ρrho",
    "σsigma",
    "τtau",
    "υupsilon",
    "φphi",
    "ϕphi",
    "χchi",
    "ψpsi",
    "ωomega",
    "ΓGamma",
    "ΔDelta",
    "ΘTheta",
    "ΛLambda",
    "ΞXi",
    "ΠPi",
    "ΣSigma",
    "ΦPhi",
    "ΨPsi",
    "ΩOmega",
    "ℓell"
  };

  private static final Map<Character, String> TABLE = table();

  private UnicodeSigns() {}

  private static Map<Character, String> table() {
    Map<Character, String> table = new HashMap<>();
    for (int i = 0; i < SIGNS.length; i += 2) {
      for (char c : SIGNS[i].toCharArray()) {
        table.put(c, SIGNS[i + 1]);
      }
    }
    for (String row : FRACTIONS) {
      int slash = row.indexOf('/');
      table.put(
          row.charAt(0),
          "\\frac{%s}{%s}".formatted(row.substring(1, slash), row.substring(slash + 1)));
    }
    for (String row : GREEK) {
      table.put(row.charAt(0), "\\" + row.substring(1) + " ");
    }
    return Map.copyOf(table);
  }

  /** Returns the text with LaTeX for signs, and without characters that cannot be seen. */
  static String latex(String written) {
    String text = compatible(written);
    StringBuilder out = new StringBuilder(text.length() + 16);
    int at = 0;
    while (at < text.length()) {
      int raised = run(text, at, RAISED);
      int lowered = run(text, at, LOWERED);
      if (raised > at) {
        script(out, '^', text.substring(at, raised), RAISED, RAISED_AS);
        at = raised;
      } else if (lowered > at) {
        script(out, '_', text.substring(at, lowered), LOWERED, LOWERED_AS);
        at = lowered;
      } else {
        sign(out, text.charAt(at++));
      }
    }
    return out.toString();
  }

  private static void sign(StringBuilder out, char c) {
    String sign = c < 128 ? null : TABLE.get(c);
    if (sign != null) {
      out.append(sign);
    } else if (Character.isWhitespace(c) || Character.isSpaceChar(c)) {
      out.append(' ');
    } else if (!isInvisible(c) && c != AnswerNormaliser.THOUSANDS) {
      out.append(c);
    }
  }

  private static int run(String text, int from, String letters) {
    int at = from;
    while (at < text.length() && letters.indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    return at;
  }

  private static void script(
      StringBuilder out, char mark, String run, String letters, String plain) {
    out.append(mark).append('{');
    run.chars().forEach(c -> out.append(plain.charAt(letters.indexOf(c))));
    out.append('}');
  }

  /** Letters and digits of other faces and widths become plain ones: 𝑥, 𝟑, ３, ㎏. */
  private static String compatible(String text) {
    if (text.chars().allMatch(c -> c < 128)) {
      return text;
    }
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints()
        .forEach(
            c -> {
              boolean face = c >= 0x1D400 && c <= 0x1D7FF;
              boolean wide = c >= 0xFF01 && c <= 0xFF5E;
              boolean square = c >= 0x3371 && c <= 0x33DF;
              boolean roman = c >= 0x2160 && c <= 0x216F;
              String one = Character.toString(c);
              out.append(
                  face || wide || square || roman
                      ? Normalizer.normalize(one, Normalizer.Form.NFKC)
                      : one);
            });
    return out.toString();
  }

  private static boolean isInvisible(char c) {
    return switch (Character.getType(c)) {
      case Character.FORMAT, Character.CONTROL -> true;
      default -> false;
    };
  }
}
