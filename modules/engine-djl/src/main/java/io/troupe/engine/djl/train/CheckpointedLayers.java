package io.troupe.engine.djl.train;

import ai.djl.pytorch.jni.TorchBridge;
import io.troupe.engine.djl.model.Decoder;
import io.troupe.engine.djl.model.FlatGradients;
import io.troupe.engine.djl.model.GradientLeaves;
import io.troupe.engine.djl.torch.NativeTensor;
import io.troupe.engine.djl.torch.TorchProgram;
import io.troupe.engine.djl.torch.TorchValue;
import java.util.Arrays;

/**
 * A forward pass with activation checkpointing: it keeps only the inputs of the layers, except the
 * first one's, which are rows of the embedding. The backward pass computes each layer again, with a
 * graph of one layer at a time.
 */
final class CheckpointedLayers implements AutoCloseable {
  private final Decoder decoder;
  private final GradientLeaves leaves;
  private final MicroBatch part;
  private final TorchValue inputs;
  private final NativeTensor output;

  private CheckpointedLayers(
      Decoder decoder,
      GradientLeaves leaves,
      MicroBatch part,
      TorchValue inputs,
      NativeTensor output) {
    this.decoder = decoder;
    this.leaves = leaves;
    this.part = part;
    this.inputs = inputs;
    this.output = output;
  }

  /** Runs the forward pass; the caller has switched gradients off. */
  static CheckpointedLayers of(Decoder decoder, GradientLeaves leaves, MicroBatch part) {
    long[] handles;
    try (TorchProgram.Call call = decoder.call("checkpoints", leaves)) {
      handles = part.treeInto(call).tensorHandles();
    }
    int below = handles.length - 1;
    NativeTensor output;
    try (NativeTensor last = NativeTensor.opaque(handles[below])) {
      output = last.leaf();
    }
    long[] kept = Arrays.copyOf(handles, below);
    TorchValue inputs = new TorchValue(TorchBridge.valueOfTensors(kept));
    // Only the list holds the inputs now, so that the input of a layer is freed right after its
    // backward pass.
    for (long handle : kept) {
      TorchBridge.deleteTensor(handle);
    }
    return new CheckpointedLayers(decoder, leaves, part, inputs, output);
  }

  /**
   * Returns the normed hidden states, with a graph back to the output of the last layer; called
   * once.
   */
  NativeTensor finalHidden() {
    try (TorchProgram.Call call = decoder.call("final_hidden", leaves)) {
      return call.with(output).opaque();
    }
  }

  /** Adds the gradients of all weights below the last layer's output; called once. */
  void backward(FlatGradients gradients) {
    try (NativeTensor gradient = NativeTensor.opaque(TorchBridge.gradient(output.handle()));
        TorchProgram.Call call = decoder.call("backward_layers", leaves)) {
      output.close(); // nothing below reads it, and it is as large as an input
      part.treeInto(call).with(inputs).with(gradient).with(gradients.slots()).run();
    }
  }

  @Override
  public void close() {
    inputs.close();
    output.close();
  }
}
