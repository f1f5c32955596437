package io.troupe.verifiers.math.parse;

import io.troupe.verifiers.math.expr.Expr;
import io.troupe.verifiers.math.expr.Expr.Call;
import io.troupe.verifiers.math.expr.Expr.Cases;
import io.troupe.verifiers.math.expr.Expr.Listing;
import io.troupe.verifiers.math.expr.Expr.Matrix;
import io.troupe.verifiers.math.expr.Expr.Words;
import io.troupe.verifiers.math.expr.Operator;
import io.troupe.verifiers.math.parse.AnswerToken.Kind;
import java.util.ArrayList;
import java.util.List;

/** Reads environments of rows: matrices and their arithmetic, systems, values by cases. */
final class MatrixParser {
  /** The most rows of a determinant that is worked out. */
  private static final int MOST_ROWS = 4;

  private final AnswerParser parser;
  private final AnswerTokenReader in;

  MatrixParser(AnswerParser parser, AnswerTokenReader in) {
    this.parser = parser;
    this.in = in;
  }

  Expr environment(String name) {
    if (name.matches("cases|aligned|align|gathered|split|dcases|rcases")) {
      return cases(name);
    }
    boolean array = name.equals("array");
    if (!array && !name.matches("[pbvB]?matrix|smallmatrix")) {
      throw AnswerParser.unreadable();
    }
    if (array) {
      while (!in.takesSign("}")) {
        if (in.next().kind() == Kind.END) {
          throw AnswerParser.unreadable();
        }
      }
    }
    List<List<Expr>> rows = new ArrayList<>();
    while (!in.takesCommand("end:" + name)) {
      List<Expr> row = new ArrayList<>(List.of(AnswerParser.scalar(parser.sum())));
      while (in.takesSign("&")) {
        row.add(AnswerParser.scalar(parser.sum()));
      }
      rows.add(List.copyOf(row));
      if (row.size() != rows.get(0).size() || !endsRow(name)) {
        throw AnswerParser.unreadable();
      }
    }
    if (rows.isEmpty()) {
      throw AnswerParser.unreadable();
    }
    Matrix matrix = new Matrix(List.copyOf(rows));
    return name.equals("vmatrix") ? determinant(matrix) : matrix;
  }

  private boolean endsRow(String name) {
    return in.takesSign("\\\\") || in.peek().isCommand("end:" + name);
  }

  /** A system of relations, or values with their conditions behind {@code &}. */
  private Expr cases(String name) {
    List<Expr> values = new ArrayList<>();
    List<Expr> conditions = new ArrayList<>();
    while (!in.takesCommand("end:" + name)) {
      in.takesSign("&");
      values.add(parser.relation());
      skipMarks();
      boolean conditional = in.takesSign("&");
      skipMarks();
      if (conditional && !in.peek().isSign("\\\\") && !in.peek().isCommand("end:" + name)) {
        conditions.add(parser.list());
      }
      in.takesSign(",");
      if (!endsRow(name)) {
        throw AnswerParser.unreadable();
      }
    }
    if (values.isEmpty() || (!conditions.isEmpty() && conditions.size() != values.size())) {
      throw AnswerParser.unreadable();
    }
    if (!conditions.isEmpty()) {
      return new Cases(values, conditions);
    }
    return values.size() == 1 ? values.get(0) : new Listing(' ', ' ', values, Expr.Joined.AND);
  }

  /** Skips the marks between a value and its condition. */
  private void skipMarks() {
    boolean mark = true;
    while (mark) {
      mark = in.takesSign(",") || in.takesSign(";") || in.takesSign(":") || in.takesCommand("and");
    }
  }

  /** A transposed matrix; other powers are not worked out. */
  Expr power(Matrix matrix) {
    boolean braced = in.takesSign("{");
    AnswerToken token = in.next();
    boolean transposed =
        token.is(Kind.LETTER, "T")
            || token.is(Kind.LETTER, "t")
            || token.is(Kind.TEXT, "T")
            || token.isCommand("top")
            || token.isCommand("intercal");
    if (!transposed || (braced && !in.takesSign("}"))) {
      throw AnswerParser.unreadable();
    }
    List<List<Expr>> columns = new ArrayList<>();
    for (int i = 0; i < matrix.rows().get(0).size(); i++) {
      int column = i;
      columns.add(matrix.rows().stream().map(row -> row.get(column)).toList());
    }
    return new Matrix(columns);
  }

  static Matrix times(Expr factor, Matrix matrix) {
    return new Matrix(
        matrix.rows().stream()
            .map(
                row ->
                    row.stream()
                        .<Expr>map(cell -> new Call(Operator.MULTIPLY, factor, cell))
                        .toList())
            .toList());
  }

  /** A product of which one factor at least is a matrix. */
  static Expr multiplied(Expr left, Expr right) {
    if (left instanceof Matrix a && right instanceof Matrix b) {
      return product(a, b);
    }
    return left instanceof Matrix matrix
        ? times(AnswerParser.scalar(right), matrix)
        : times(AnswerParser.scalar(left), (Matrix) right);
  }

  private static Matrix product(Matrix a, Matrix b) {
    int inner = b.rows().size();
    if (a.rows().get(0).size() != inner || inner > MOST_ROWS) {
      throw AnswerParser.unreadable();
    }
    List<List<Expr>> rows = new ArrayList<>();
    for (List<Expr> row : a.rows()) {
      List<Expr> cells = new ArrayList<>();
      for (int j = 0; j < b.rows().get(0).size(); j++) {
        List<Expr> terms = new ArrayList<>();
        for (int k = 0; k < inner; k++) {
          terms.add(new Call(Operator.MULTIPLY, row.get(k), b.rows().get(k).get(j)));
        }
        cells.add(new Call(Operator.ADD, terms));
      }
      rows.add(cells);
    }
    return new Matrix(rows);
  }

  static Expr add(Matrix left, Expr term) {
    if (!(term instanceof Matrix right)
        || left.rows().size() != right.rows().size()
        || left.rows().get(0).size() != right.rows().get(0).size()) {
      throw AnswerParser.unreadable();
    }
    List<List<Expr>> rows = new ArrayList<>();
    for (int i = 0; i < left.rows().size(); i++) {
      List<Expr> row = new ArrayList<>();
      for (int j = 0; j < left.rows().get(i).size(); j++) {
        row.add(new Call(Operator.ADD, left.rows().get(i).get(j), right.rows().get(i).get(j)));
      }
      rows.add(row);
    }
    return new Matrix(rows);
  }

  /** The determinant, by its first row. */
  Expr determinant(Expr expr) {
    if (!(expr instanceof Matrix matrix)
        || matrix.rows().size() != matrix.rows().get(0).size()
        || matrix.rows().size() > MOST_ROWS) {
      throw AnswerParser.unreadable();
    }
    List<Expr> first = matrix.rows().get(0);
    if (first.size() == 1) {
      return first.get(0);
    }
    List<Expr> terms = new ArrayList<>();
    for (int j = 0; j < first.size(); j++) {
      int skipped = j;
      List<List<Expr>> minor = new ArrayList<>();
      for (List<Expr> row : matrix.rows().subList(1, matrix.rows().size())) {
        List<Expr> rest = new ArrayList<>(row);
        rest.remove(skipped);
        minor.add(rest);
      }
      Expr term = new Call(Operator.MULTIPLY, first.get(j), determinant(new Matrix(minor)));
      terms.add(j % 2 == 0 ? term : new Call(Operator.NEGATE, term));
    }
    return new Call(Operator.ADD, terms);
  }

  /** Whether a condition is what the others leave. */
  static boolean isOtherwise(Expr condition) {
    return condition instanceof Words(var text) && text.matches("(otherwise|else|elsewhere)");
  }
}
