import com.google.protobuf.ByteString;
import dev.skiplane.v1.EnqueueRequest;
import dev.skiplane.v1.NewTask;

/** Builds a request, serialises and parses it, compares, and writes it for the test. */
class Check {
  public static void main(String[] arguments) throws Exception {
    NewTask task = NewTask.newBuilder()
        .setPayload(ByteString.copyFromUtf8("hello")).setKey("order-17").build();
    EnqueueRequest request = EnqueueRequest.newBuilder().setQueue("mail").addTasks(task).build();
    EnqueueRequest parsed = EnqueueRequest.parseFrom(request.toByteArray());
    if (!parsed.equals(request)) throw new AssertionError(parsed);
    parsed.writeTo(System.out);
    System.out.flush();
  }
}
